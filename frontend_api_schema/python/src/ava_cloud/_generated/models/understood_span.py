from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="UnderstoodSpan")


@_attrs_define
class UnderstoodSpan:
    """The stretch of one video that a question's time means.

    Attributes:
        video_id (str): Video of the stretch.
        start_ms (int): Begin of the stretch, in milliseconds.
        end_ms (int): End of the stretch, in milliseconds.
        start_at (datetime.datetime | None): When it was filmed, in the video's time zone; null if unknown.
        end_at (datetime.datetime | None): When it ended, in the video's time zone; null if unknown.
    """

    video_id: str
    start_ms: int
    end_ms: int
    start_at: datetime.datetime | None
    end_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        start_ms = self.start_ms

        end_ms = self.end_ms

        start_at: None | str
        if isinstance(self.start_at, datetime.datetime):
            start_at = self.start_at.isoformat()
        else:
            start_at = self.start_at

        end_at: None | str
        if isinstance(self.end_at, datetime.datetime):
            end_at = self.end_at.isoformat()
        else:
            end_at = self.end_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "start_ms": start_ms,
                "end_ms": end_ms,
                "start_at": start_at,
                "end_at": end_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        video_id = d.pop("video_id")

        start_ms = d.pop("start_ms")

        end_ms = d.pop("end_ms")

        def _parse_start_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                start_at_type_0 = datetime.datetime.fromisoformat(data)

                return start_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        start_at = _parse_start_at(d.pop("start_at"))

        def _parse_end_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                end_at_type_0 = datetime.datetime.fromisoformat(data)

                return end_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        end_at = _parse_end_at(d.pop("end_at"))

        understood_span = cls(
            video_id=video_id,
            start_ms=start_ms,
            end_ms=end_ms,
            start_at=start_at,
            end_at=end_at,
        )

        understood_span.additional_properties = d
        return understood_span

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
