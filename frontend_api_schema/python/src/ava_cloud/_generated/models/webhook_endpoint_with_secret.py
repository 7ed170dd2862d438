from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WebhookEndpointWithSecret")


@_attrs_define
class WebhookEndpointWithSecret:
    """
    Attributes:
        id (str):
        object_ (str):
        url (str):
        description (str):
        event_types (list[str]): Types of the events that are sent; empty for all types.
        state (str): `auto_disabled`: too many deliveries in a row have failed. Known values: `enabled`, `disabled`,
            `auto_disabled`. Others may follow.
        disabled_at (datetime.datetime | None): When the service disabled the endpoint.
        disabled_reason (str): Why the service disabled the endpoint: it answered 410, or deliveries failed. Empty
            otherwise. Known values: `gone`, `dead_deliveries`. Others may follow.
        dead_deliveries (int): Deliveries in a row that have failed for good.
        breaker (str): `open`: attempts have failed, so deliveries wait until `probe_at`. `half_open`: one delivery is
            being attempted as a probe. Known values: `closed`, `open`, `half_open`. Others may follow.
        probe_at (datetime.datetime | None): When the next delivery is attempted as a probe.
        last_sequence (int): The `endpoint_sequence` of the newest delivery.
        created_by (None | str): The key (`key_…`) or the person (`per_…`) that made the endpoint or chose its present
            URL.
        created_at (datetime.datetime):
        secret (str): The signing secret, which begins with `whsec_`.
    """

    id: str
    object_: str
    url: str
    description: str
    event_types: list[str]
    state: str
    disabled_at: datetime.datetime | None
    disabled_reason: str
    dead_deliveries: int
    breaker: str
    probe_at: datetime.datetime | None
    last_sequence: int
    created_by: None | str
    created_at: datetime.datetime
    secret: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        url = self.url

        description = self.description

        event_types = self.event_types

        state = self.state

        disabled_at: None | str
        if isinstance(self.disabled_at, datetime.datetime):
            disabled_at = self.disabled_at.isoformat()
        else:
            disabled_at = self.disabled_at

        disabled_reason = self.disabled_reason

        dead_deliveries = self.dead_deliveries

        breaker = self.breaker

        probe_at: None | str
        if isinstance(self.probe_at, datetime.datetime):
            probe_at = self.probe_at.isoformat()
        else:
            probe_at = self.probe_at

        last_sequence = self.last_sequence

        created_by: None | str
        created_by = self.created_by

        created_at = self.created_at.isoformat()

        secret = self.secret

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "url": url,
                "description": description,
                "event_types": event_types,
                "state": state,
                "disabled_at": disabled_at,
                "disabled_reason": disabled_reason,
                "dead_deliveries": dead_deliveries,
                "breaker": breaker,
                "probe_at": probe_at,
                "last_sequence": last_sequence,
                "created_by": created_by,
                "created_at": created_at,
                "secret": secret,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        url = d.pop("url")

        description = d.pop("description")

        event_types = cast(list[str], d.pop("event_types"))

        state = d.pop("state")

        def _parse_disabled_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                disabled_at_type_0 = datetime.datetime.fromisoformat(data)

                return disabled_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        disabled_at = _parse_disabled_at(d.pop("disabled_at"))

        disabled_reason = d.pop("disabled_reason")

        dead_deliveries = d.pop("dead_deliveries")

        breaker = d.pop("breaker")

        def _parse_probe_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                probe_at_type_0 = datetime.datetime.fromisoformat(data)

                return probe_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        probe_at = _parse_probe_at(d.pop("probe_at"))

        last_sequence = d.pop("last_sequence")

        def _parse_created_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        created_by = _parse_created_by(d.pop("created_by"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        secret = d.pop("secret")

        webhook_endpoint_with_secret = cls(
            id=id,
            object_=object_,
            url=url,
            description=description,
            event_types=event_types,
            state=state,
            disabled_at=disabled_at,
            disabled_reason=disabled_reason,
            dead_deliveries=dead_deliveries,
            breaker=breaker,
            probe_at=probe_at,
            last_sequence=last_sequence,
            created_by=created_by,
            created_at=created_at,
            secret=secret,
        )

        webhook_endpoint_with_secret.additional_properties = d
        return webhook_endpoint_with_secret

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
