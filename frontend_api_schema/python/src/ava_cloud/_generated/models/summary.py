from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.resource_error import ResourceError
    from ..models.topic import Topic


T = TypeVar("T", bound="Summary")


@_attrs_define
class Summary:
    """
    Attributes:
        video_id (str):
        index_version (int):
        text (str): Empty until the first topic is summarised.
        people (list[str]): Most important first.
        places (list[str]): Most important first.
        until_ms (int): End of the part that the text covers.
        complete (bool): Whether the text covers a finished index to its end.
        error (None | ResourceError): Why the summary is incomplete, if it has failed for good.
        topics (list[Topic]):
    """

    video_id: str
    index_version: int
    text: str
    people: list[str]
    places: list[str]
    until_ms: int
    complete: bool
    error: None | ResourceError
    topics: list[Topic]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.resource_error import ResourceError  # noqa: PLC0415

        video_id = self.video_id

        index_version = self.index_version

        text = self.text

        people = self.people

        places = self.places

        until_ms = self.until_ms

        complete = self.complete

        error: dict[str, Any] | None
        if isinstance(self.error, ResourceError):
            error = self.error.to_dict()
        else:
            error = self.error

        topics = []
        for topics_item_data in self.topics:
            topics_item = topics_item_data.to_dict()
            topics.append(topics_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "index_version": index_version,
                "text": text,
                "people": people,
                "places": places,
                "until_ms": until_ms,
                "complete": complete,
                "error": error,
                "topics": topics,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.resource_error import ResourceError  # noqa: PLC0415
        from ..models.topic import Topic  # noqa: PLC0415

        d = dict(src_dict)
        video_id = d.pop("video_id")

        index_version = d.pop("index_version")

        text = d.pop("text")

        people = cast(list[str], d.pop("people"))

        places = cast(list[str], d.pop("places"))

        until_ms = d.pop("until_ms")

        complete = d.pop("complete")

        def _parse_error(data: object) -> None | ResourceError:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                error_type_0 = ResourceError.from_dict(data)

                return error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ResourceError, data)

        error = _parse_error(d.pop("error"))

        topics = []
        _topics = d.pop("topics")
        for topics_item_data in _topics:
            topics_item = Topic.from_dict(topics_item_data)

            topics.append(topics_item)

        summary = cls(
            video_id=video_id,
            index_version=index_version,
            text=text,
            people=people,
            places=places,
            until_ms=until_ms,
            complete=complete,
            error=error,
            topics=topics,
        )

        summary.additional_properties = d
        return summary

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
