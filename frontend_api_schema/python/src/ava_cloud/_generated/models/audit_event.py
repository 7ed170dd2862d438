from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.audit_actor import AuditActor
    from ..models.audit_event_details import AuditEventDetails


T = TypeVar("T", bound="AuditEvent")


@_attrs_define
class AuditEvent:
    """
    Attributes:
        id (str):
        object_ (str):
        occurred_at (datetime.datetime):
        action (str): What was done: a kind of resource and a verb.
        actor (AuditActor):
        resource_id (None | str): What was changed or opened.
        reason (str): Reason that our staff stated.
        address (None | str): Address that the request came from.
        request_id (str):
        details (AuditEventDetails): More about the act; its fields depend on the action.
    """

    id: str
    object_: str
    occurred_at: datetime.datetime
    action: str
    actor: AuditActor
    resource_id: None | str
    reason: str
    address: None | str
    request_id: str
    details: AuditEventDetails
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        occurred_at = self.occurred_at.isoformat()

        action = self.action

        actor = self.actor.to_dict()

        resource_id: None | str
        resource_id = self.resource_id

        reason = self.reason

        address: None | str
        address = self.address

        request_id = self.request_id

        details = self.details.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "occurred_at": occurred_at,
                "action": action,
                "actor": actor,
                "resource_id": resource_id,
                "reason": reason,
                "address": address,
                "request_id": request_id,
                "details": details,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.audit_actor import AuditActor  # noqa: PLC0415
        from ..models.audit_event_details import AuditEventDetails  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        occurred_at = datetime.datetime.fromisoformat(d.pop("occurred_at"))

        action = d.pop("action")

        actor = AuditActor.from_dict(d.pop("actor"))

        def _parse_resource_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        resource_id = _parse_resource_id(d.pop("resource_id"))

        reason = d.pop("reason")

        def _parse_address(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        address = _parse_address(d.pop("address"))

        request_id = d.pop("request_id")

        details = AuditEventDetails.from_dict(d.pop("details"))

        audit_event = cls(
            id=id,
            object_=object_,
            occurred_at=occurred_at,
            action=action,
            actor=actor,
            resource_id=resource_id,
            reason=reason,
            address=address,
            request_id=request_id,
            details=details,
        )

        audit_event.additional_properties = d
        return audit_event

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
