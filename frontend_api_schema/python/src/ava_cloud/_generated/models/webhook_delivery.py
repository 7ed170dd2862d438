from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WebhookDelivery")


@_attrs_define
class WebhookDelivery:
    """
    Attributes:
        id (str):
        object_ (str):
        endpoint_id (str):
        event_id (str): The `webhook-id` header of the requests.
        event_type (str):
        resource_id (str): Id of the resource that the event is about, such as a video.
        endpoint_sequence (int | None): Order number of this delivery among those of the endpoint, without gaps; the
            body has it too. Null before the first attempt.
        state (str): Known values: `pending`, `succeeded`, `dead`. Others may follow.
        attempts (int): Number of attempts so far.
        next_attempt_at (datetime.datetime | None):
        created_at (datetime.datetime):
        completed_at (datetime.datetime | None):
    """

    id: str
    object_: str
    endpoint_id: str
    event_id: str
    event_type: str
    resource_id: str
    endpoint_sequence: int | None
    state: str
    attempts: int
    next_attempt_at: datetime.datetime | None
    created_at: datetime.datetime
    completed_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        endpoint_id = self.endpoint_id

        event_id = self.event_id

        event_type = self.event_type

        resource_id = self.resource_id

        endpoint_sequence: int | None
        endpoint_sequence = self.endpoint_sequence

        state = self.state

        attempts = self.attempts

        next_attempt_at: None | str
        if isinstance(self.next_attempt_at, datetime.datetime):
            next_attempt_at = self.next_attempt_at.isoformat()
        else:
            next_attempt_at = self.next_attempt_at

        created_at = self.created_at.isoformat()

        completed_at: None | str
        if isinstance(self.completed_at, datetime.datetime):
            completed_at = self.completed_at.isoformat()
        else:
            completed_at = self.completed_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "endpoint_id": endpoint_id,
                "event_id": event_id,
                "event_type": event_type,
                "resource_id": resource_id,
                "endpoint_sequence": endpoint_sequence,
                "state": state,
                "attempts": attempts,
                "next_attempt_at": next_attempt_at,
                "created_at": created_at,
                "completed_at": completed_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        endpoint_id = d.pop("endpoint_id")

        event_id = d.pop("event_id")

        event_type = d.pop("event_type")

        resource_id = d.pop("resource_id")

        def _parse_endpoint_sequence(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        endpoint_sequence = _parse_endpoint_sequence(d.pop("endpoint_sequence"))

        state = d.pop("state")

        attempts = d.pop("attempts")

        def _parse_next_attempt_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                next_attempt_at_type_0 = datetime.datetime.fromisoformat(data)

                return next_attempt_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        next_attempt_at = _parse_next_attempt_at(d.pop("next_attempt_at"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_completed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                completed_at_type_0 = datetime.datetime.fromisoformat(data)

                return completed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        completed_at = _parse_completed_at(d.pop("completed_at"))

        webhook_delivery = cls(
            id=id,
            object_=object_,
            endpoint_id=endpoint_id,
            event_id=event_id,
            event_type=event_type,
            resource_id=resource_id,
            endpoint_sequence=endpoint_sequence,
            state=state,
            attempts=attempts,
            next_attempt_at=next_attempt_at,
            created_at=created_at,
            completed_at=completed_at,
        )

        webhook_delivery.additional_properties = d
        return webhook_delivery

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
