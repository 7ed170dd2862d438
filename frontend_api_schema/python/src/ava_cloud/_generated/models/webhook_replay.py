from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WebhookReplay")


@_attrs_define
class WebhookReplay:
    """
    Attributes:
        queued (int): Number of deliveries that are on their way now.
        next_since (datetime.datetime | None): Send this as `since` to continue; null if nothing is left.
    """

    queued: int
    next_since: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        queued = self.queued

        next_since: None | str
        if isinstance(self.next_since, datetime.datetime):
            next_since = self.next_since.isoformat()
        else:
            next_since = self.next_since

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "queued": queued,
                "next_since": next_since,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        queued = d.pop("queued")

        def _parse_next_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                next_since_type_0 = datetime.datetime.fromisoformat(data)

                return next_since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        next_since = _parse_next_since(d.pop("next_since"))

        webhook_replay = cls(
            queued=queued,
            next_since=next_since,
        )

        webhook_replay.additional_properties = d
        return webhook_replay

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
