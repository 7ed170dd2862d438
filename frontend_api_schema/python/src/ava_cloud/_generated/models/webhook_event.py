from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.webhook_event_data import WebhookEventData


T = TypeVar("T", bound="WebhookEvent")


@_attrs_define
class WebhookEvent:
    """
    Attributes:
        id (str): The `webhook-id` header of the requests that deliver the event.
        object_ (str):
        type_ (str): As in the body that your endpoints get.
        timestamp (str): When the event happened, as in the body that your endpoints get.
        sequence (int): Which change of this type of the resource, as in the body that your endpoints get.
        data (WebhookEventData): The outcome of the resource, as in the body that your endpoints get. Without the scope
            `questions:read` an `answer` is empty and a `choice` is null.
    """

    id: str
    object_: str
    type_: str
    timestamp: str
    sequence: int
    data: WebhookEventData
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        type_ = self.type_

        timestamp = self.timestamp

        sequence = self.sequence

        data = self.data.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "type": type_,
                "timestamp": timestamp,
                "sequence": sequence,
                "data": data,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.webhook_event_data import WebhookEventData  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        type_ = d.pop("type")

        timestamp = d.pop("timestamp")

        sequence = d.pop("sequence")

        data = WebhookEventData.from_dict(d.pop("data"))

        webhook_event = cls(
            id=id,
            object_=object_,
            type_=type_,
            timestamp=timestamp,
            sequence=sequence,
            data=data,
        )

        webhook_event.additional_properties = d
        return webhook_event

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
