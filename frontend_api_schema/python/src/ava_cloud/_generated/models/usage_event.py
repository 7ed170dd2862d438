from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.charge import Charge


T = TypeVar("T", bound="UsageEvent")


@_attrs_define
class UsageEvent:
    """A row of the ledger.

    Attributes:
        id (str): Id of the row.
        object_ (str): Always `usage_event`. Default: 'usage_event'.
        meter (str): What was measured. Known values: `media_seconds`, `live_seconds`, `questions`, `searches`,
            `comparisons`, `storage_gb_hours`, `egress_gb`, `input_tokens`, `output_tokens`, `device_seconds`. Others may
            follow.
        quantity (str): Quantity as an exact decimal, in the meter's unit.
        occurred_at (datetime.datetime): When the usage occurred.
        recorded_at (datetime.datetime): When the row was written.
        video_id (None | str): Video that the usage belongs to, if any.
        question_id (None | str): Question that the usage belongs to, if any.
        collection_id (None | str): Collection that the usage belongs to, if any.
        api_key_id (None | str): API key that caused the usage, if known.
        member_id (None | str): Member who caused the usage, if known.
        stage (str): Stage of the work; empty without one.
        model (str): Model that was called; empty without one.
        method (str): Answering method of a question; empty otherwise.
        effort (str): Effort of a question; empty otherwise.
        profile (str): Profile of a video; empty otherwise.
        variant (str): Variant of the meter by which the price was found; empty without one.
        charge (Charge): What is charged, by the price list. Allowances, tiers, credits and tax are lines of the
            invoice.
        billable (bool): False for usage that nobody is charged for.
        reason (str): Why the row is not billable or takes another back; empty otherwise.
        reverses_id (None | str): Row that this row takes back; null otherwise.
    """

    id: str
    meter: str
    quantity: str
    occurred_at: datetime.datetime
    recorded_at: datetime.datetime
    video_id: None | str
    question_id: None | str
    collection_id: None | str
    api_key_id: None | str
    member_id: None | str
    stage: str
    model: str
    method: str
    effort: str
    profile: str
    variant: str
    charge: Charge
    billable: bool
    reason: str
    reverses_id: None | str
    object_: str = "usage_event"
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        meter = self.meter

        quantity = self.quantity

        occurred_at = self.occurred_at.isoformat()

        recorded_at = self.recorded_at.isoformat()

        video_id: None | str
        video_id = self.video_id

        question_id: None | str
        question_id = self.question_id

        collection_id: None | str
        collection_id = self.collection_id

        api_key_id: None | str
        api_key_id = self.api_key_id

        member_id: None | str
        member_id = self.member_id

        stage = self.stage

        model = self.model

        method = self.method

        effort = self.effort

        profile = self.profile

        variant = self.variant

        charge = self.charge.to_dict()

        billable = self.billable

        reason = self.reason

        reverses_id: None | str
        reverses_id = self.reverses_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "meter": meter,
                "quantity": quantity,
                "occurred_at": occurred_at,
                "recorded_at": recorded_at,
                "video_id": video_id,
                "question_id": question_id,
                "collection_id": collection_id,
                "api_key_id": api_key_id,
                "member_id": member_id,
                "stage": stage,
                "model": model,
                "method": method,
                "effort": effort,
                "profile": profile,
                "variant": variant,
                "charge": charge,
                "billable": billable,
                "reason": reason,
                "reverses_id": reverses_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.charge import Charge  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        meter = d.pop("meter")

        quantity = d.pop("quantity")

        occurred_at = datetime.datetime.fromisoformat(d.pop("occurred_at"))

        recorded_at = datetime.datetime.fromisoformat(d.pop("recorded_at"))

        def _parse_video_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        video_id = _parse_video_id(d.pop("video_id"))

        def _parse_question_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        question_id = _parse_question_id(d.pop("question_id"))

        def _parse_collection_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        collection_id = _parse_collection_id(d.pop("collection_id"))

        def _parse_api_key_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        api_key_id = _parse_api_key_id(d.pop("api_key_id"))

        def _parse_member_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        member_id = _parse_member_id(d.pop("member_id"))

        stage = d.pop("stage")

        model = d.pop("model")

        method = d.pop("method")

        effort = d.pop("effort")

        profile = d.pop("profile")

        variant = d.pop("variant")

        charge = Charge.from_dict(d.pop("charge"))

        billable = d.pop("billable")

        reason = d.pop("reason")

        def _parse_reverses_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        reverses_id = _parse_reverses_id(d.pop("reverses_id"))

        usage_event = cls(
            id=id,
            object_=object_,
            meter=meter,
            quantity=quantity,
            occurred_at=occurred_at,
            recorded_at=recorded_at,
            video_id=video_id,
            question_id=question_id,
            collection_id=collection_id,
            api_key_id=api_key_id,
            member_id=member_id,
            stage=stage,
            model=model,
            method=method,
            effort=effort,
            profile=profile,
            variant=variant,
            charge=charge,
            billable=billable,
            reason=reason,
            reverses_id=reverses_id,
        )

        usage_event.additional_properties = d
        return usage_event

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
