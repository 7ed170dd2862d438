from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.understood_time import UnderstoodTime


T = TypeVar("T", bound="Understood")


@_attrs_define
class Understood:
    """What a question's words were taken to ask for. No text of a video takes part in it.

    Attributes:
        route (str): How the question was answered. Known values: `search`, `time`, `whole`, `scan`, `objects`. Others
            may follow.
        chosen_by (str): What chose the route: you (`caller`), labelled `examples`, a `model`, or nothing (`default`).
            Known values: `caller`, `examples`, `figures`, `model`, `default`. Others may follow.
        sure (bool): Whether the route was read with confidence. False if the question may have asked for a scan or a
            count: it was searched for instead, and `notes` says how to ask for the other. Default: True.
        shape (str): Form of the answer. Known values: `sentence`, `list`, `steps`, `table`, `count`, `summary`. Others
            may follow.
        language (str): ISO 639-1 code of the question's language; empty if unknown.
        searched (str): The words that were searched for; empty if they are the question's.
        quoted (list[str]): Words that had to be found exactly.
        videos (list[str]): The videos that the question names by their titles; nothing else was read. Empty if it names
            none.
        statement (str): The statement that a scan judged over every event; empty for other routes.
        polarity (str): What was asked about the statement: where it is true (`occurs`), whether it is `never` true, or
            whether it is `always` true. Known values: `occurs`, `never`, `always`. Others may follow.
        counted (str): The things whose number was asked; empty for other routes.
        counting (str): Which number of them: in total, at once, how many entered or left. Known values: `total`,
            `at_once`, `entered`, `left`, `both`, `entries`, `exits`. Others may follow.
        comparison (str): What was asked of several videos, such as a number of `each` of them. Known values: `none`,
            `each`, `most`, `fewest`, `videos`. Others may follow.
        time (None | UnderstoodTime): The time that the question names; null without one.
    """

    route: str
    chosen_by: str
    shape: str
    language: str
    searched: str
    quoted: list[str]
    videos: list[str]
    statement: str
    polarity: str
    counted: str
    counting: str
    comparison: str
    time: None | UnderstoodTime
    sure: bool = True
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.understood_time import UnderstoodTime  # noqa: PLC0415

        route = self.route

        chosen_by = self.chosen_by

        sure = self.sure

        shape = self.shape

        language = self.language

        searched = self.searched

        quoted = self.quoted

        videos = self.videos

        statement = self.statement

        polarity = self.polarity

        counted = self.counted

        counting = self.counting

        comparison = self.comparison

        time: dict[str, Any] | None
        if isinstance(self.time, UnderstoodTime):
            time = self.time.to_dict()
        else:
            time = self.time

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "route": route,
                "chosen_by": chosen_by,
                "sure": sure,
                "shape": shape,
                "language": language,
                "searched": searched,
                "quoted": quoted,
                "videos": videos,
                "statement": statement,
                "polarity": polarity,
                "counted": counted,
                "counting": counting,
                "comparison": comparison,
                "time": time,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.understood_time import UnderstoodTime  # noqa: PLC0415

        d = dict(src_dict)
        route = d.pop("route")

        chosen_by = d.pop("chosen_by")

        sure = d.pop("sure")

        shape = d.pop("shape")

        language = d.pop("language")

        searched = d.pop("searched")

        quoted = cast(list[str], d.pop("quoted"))

        videos = cast(list[str], d.pop("videos"))

        statement = d.pop("statement")

        polarity = d.pop("polarity")

        counted = d.pop("counted")

        counting = d.pop("counting")

        comparison = d.pop("comparison")

        def _parse_time(data: object) -> None | UnderstoodTime:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                time_type_0 = UnderstoodTime.from_dict(data)

                return time_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | UnderstoodTime, data)

        time = _parse_time(d.pop("time"))

        understood = cls(
            route=route,
            chosen_by=chosen_by,
            sure=sure,
            shape=shape,
            language=language,
            searched=searched,
            quoted=quoted,
            videos=videos,
            statement=statement,
            polarity=polarity,
            counted=counted,
            counting=counting,
            comparison=comparison,
            time=time,
        )

        understood.additional_properties = d
        return understood

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
