from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Chunk")


@_attrs_define
class Chunk:
    """A uniform slice of 3 s: either a description, or a gap with the code of its reason.

    Attributes:
        id (str):
        n (int):
        start_ms (int):
        end_ms (int):
        start_at (datetime.datetime | None): When it was filmed, in the video's time zone; null if unknown.
        end_at (datetime.datetime | None): When it ended, in the video's time zone; null if unknown.
        event_id (None | str):
        description (None | str):
        gap (None | str):
        on_screen_text (list[str]):
        inherited (bool): Whether nothing changed since an earlier chunk, whose description this chunk keeps.
    """

    id: str
    n: int
    start_ms: int
    end_ms: int
    start_at: datetime.datetime | None
    end_at: datetime.datetime | None
    event_id: None | str
    description: None | str
    gap: None | str
    on_screen_text: list[str]
    inherited: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        n = self.n

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

        event_id: None | str
        event_id = self.event_id

        description: None | str
        description = self.description

        gap: None | str
        gap = self.gap

        on_screen_text = self.on_screen_text

        inherited = self.inherited

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "n": n,
                "start_ms": start_ms,
                "end_ms": end_ms,
                "start_at": start_at,
                "end_at": end_at,
                "event_id": event_id,
                "description": description,
                "gap": gap,
                "on_screen_text": on_screen_text,
                "inherited": inherited,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        n = d.pop("n")

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

        def _parse_event_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        event_id = _parse_event_id(d.pop("event_id"))

        def _parse_description(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        description = _parse_description(d.pop("description"))

        def _parse_gap(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        gap = _parse_gap(d.pop("gap"))

        on_screen_text = cast(list[str], d.pop("on_screen_text"))

        inherited = d.pop("inherited")

        chunk = cls(
            id=id,
            n=n,
            start_ms=start_ms,
            end_ms=end_ms,
            start_at=start_at,
            end_at=end_at,
            event_id=event_id,
            description=description,
            gap=gap,
            on_screen_text=on_screen_text,
            inherited=inherited,
        )

        chunk.additional_properties = d
        return chunk

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
