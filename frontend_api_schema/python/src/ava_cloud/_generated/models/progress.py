from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Progress")


@_attrs_define
class Progress:
    """Progress within the present stage.

    Attributes:
        stage (str): The stage that is worked on.
        done (int): Units of the stage that are done.
        total (int): Units of the stage; 0 if unknown.
        percent (int | None): Percent that is done; null if unknown.
        detail (str): What is worked on, for people to read, such as `12 events`. The words may change.
        seconds_left (int | None): Time until the answer, by your earlier answers of this method, effort and model: 0
            once it takes longer than they did. Null while nobody works on the question and where nothing was measured.
    """

    stage: str
    done: int
    total: int
    percent: int | None
    detail: str
    seconds_left: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        stage = self.stage

        done = self.done

        total = self.total

        percent: int | None
        percent = self.percent

        detail = self.detail

        seconds_left: int | None
        seconds_left = self.seconds_left

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "stage": stage,
                "done": done,
                "total": total,
                "percent": percent,
                "detail": detail,
                "seconds_left": seconds_left,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        stage = d.pop("stage")

        done = d.pop("done")

        total = d.pop("total")

        def _parse_percent(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        percent = _parse_percent(d.pop("percent"))

        detail = d.pop("detail")

        def _parse_seconds_left(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        seconds_left = _parse_seconds_left(d.pop("seconds_left"))

        progress = cls(
            stage=stage,
            done=done,
            total=total,
            percent=percent,
            detail=detail,
            seconds_left=seconds_left,
        )

        progress.additional_properties = d
        return progress

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
