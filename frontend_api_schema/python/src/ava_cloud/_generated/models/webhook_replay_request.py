from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="WebhookReplayRequest")


@_attrs_define
class WebhookReplayRequest:
    """
    Attributes:
        since (datetime.datetime): Events that happened from this time on.
        include_succeeded (bool | Unset): Also send deliveries that succeeded, for example because your receiver has
            lost its data. By default `false`.
    """

    since: datetime.datetime
    include_succeeded: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        since = self.since.isoformat()

        include_succeeded = self.include_succeeded

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "since": since,
            }
        )
        if include_succeeded is not UNSET:
            field_dict["include_succeeded"] = include_succeeded

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        since = datetime.datetime.fromisoformat(d.pop("since"))

        include_succeeded = d.pop("include_succeeded", UNSET)

        webhook_replay_request = cls(
            since=since,
            include_succeeded=include_succeeded,
        )

        webhook_replay_request.additional_properties = d
        return webhook_replay_request

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
