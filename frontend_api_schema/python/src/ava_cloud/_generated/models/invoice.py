from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Invoice")


@_attrs_define
class Invoice:
    """An invoice or a credit note. Amounts are in its currency.

    Attributes:
        object_ (str): Always `invoice`. Default: 'invoice'.
        id (str): Id of the document.
        kind (str): Whether it is an invoice or a credit note. Known values: `invoice`, `credit_note`. Others may
            follow.
        state (str): A draft may still change. The other states have a number. Known values: `draft`, `final`, `paid`,
            `void`. Others may follow.
        number (str): Number of the document; empty for a draft.
        currency (str): Currency of all amounts, by its ISO 4217 code.
        period_start (datetime.datetime): Start of the month on your clock.
        period_end (datetime.datetime): End of the month on your clock, not included.
        time_zone (str): Time zone by which the month begins and ends.
        subtotal (str): Sum of the lines before coupons and tax.
        discount (str): Sum of the coupons. Positive if discounted usage was taken back.
        tax_rate (str): Tax as a fraction, such as 0.19.
        tax_note (str): Why the document has no tax: `reverse_charge`, `exempt` or another text, which the PDF prints.
            Empty if nothing is to be said.
        tax (str): Tax on the subtotal and the discount.
        total (str): Subtotal, discount and tax together.
        credited (str): What your credit paid. Negative if the document gave you credit.
        corrected (str): What credit notes took off the invoice before it was paid.
        paid (str): What was paid apart from credit; 0 until the document is paid.
        due (str): What is still to be paid: the total less credit and credit notes, and 0 if it is paid or void.
        corrects_id (None | str): The invoice that a credit note corrects, or null.
        reason (str): Why a credit note was made; empty for an invoice.
        issued_at (datetime.datetime | None): When the document got its number, or null.
        due_at (datetime.datetime | None): Last day on which to pay an invoice, or null.
        paid_at (datetime.datetime | None): When the document was paid, or null.
        voided_at (datetime.datetime | None): When the invoice was voided, or null.
    """

    id: str
    kind: str
    state: str
    number: str
    currency: str
    period_start: datetime.datetime
    period_end: datetime.datetime
    time_zone: str
    subtotal: str
    discount: str
    tax_rate: str
    tax_note: str
    tax: str
    total: str
    credited: str
    corrected: str
    paid: str
    due: str
    corrects_id: None | str
    reason: str
    issued_at: datetime.datetime | None
    due_at: datetime.datetime | None
    paid_at: datetime.datetime | None
    voided_at: datetime.datetime | None
    object_: str = "invoice"
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        object_ = self.object_

        id = self.id

        kind = self.kind

        state = self.state

        number = self.number

        currency = self.currency

        period_start = self.period_start.isoformat()

        period_end = self.period_end.isoformat()

        time_zone = self.time_zone

        subtotal = self.subtotal

        discount = self.discount

        tax_rate = self.tax_rate

        tax_note = self.tax_note

        tax = self.tax

        total = self.total

        credited = self.credited

        corrected = self.corrected

        paid = self.paid

        due = self.due

        corrects_id: None | str
        corrects_id = self.corrects_id

        reason = self.reason

        issued_at: None | str
        if isinstance(self.issued_at, datetime.datetime):
            issued_at = self.issued_at.isoformat()
        else:
            issued_at = self.issued_at

        due_at: None | str
        if isinstance(self.due_at, datetime.datetime):
            due_at = self.due_at.isoformat()
        else:
            due_at = self.due_at

        paid_at: None | str
        if isinstance(self.paid_at, datetime.datetime):
            paid_at = self.paid_at.isoformat()
        else:
            paid_at = self.paid_at

        voided_at: None | str
        if isinstance(self.voided_at, datetime.datetime):
            voided_at = self.voided_at.isoformat()
        else:
            voided_at = self.voided_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "id": id,
                "kind": kind,
                "state": state,
                "number": number,
                "currency": currency,
                "period_start": period_start,
                "period_end": period_end,
                "time_zone": time_zone,
                "subtotal": subtotal,
                "discount": discount,
                "tax_rate": tax_rate,
                "tax_note": tax_note,
                "tax": tax,
                "total": total,
                "credited": credited,
                "corrected": corrected,
                "paid": paid,
                "due": due,
                "corrects_id": corrects_id,
                "reason": reason,
                "issued_at": issued_at,
                "due_at": due_at,
                "paid_at": paid_at,
                "voided_at": voided_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        object_ = d.pop("object")

        id = d.pop("id")

        kind = d.pop("kind")

        state = d.pop("state")

        number = d.pop("number")

        currency = d.pop("currency")

        period_start = datetime.datetime.fromisoformat(d.pop("period_start"))

        period_end = datetime.datetime.fromisoformat(d.pop("period_end"))

        time_zone = d.pop("time_zone")

        subtotal = d.pop("subtotal")

        discount = d.pop("discount")

        tax_rate = d.pop("tax_rate")

        tax_note = d.pop("tax_note")

        tax = d.pop("tax")

        total = d.pop("total")

        credited = d.pop("credited")

        corrected = d.pop("corrected")

        paid = d.pop("paid")

        due = d.pop("due")

        def _parse_corrects_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        corrects_id = _parse_corrects_id(d.pop("corrects_id"))

        reason = d.pop("reason")

        def _parse_issued_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                issued_at_type_0 = datetime.datetime.fromisoformat(data)

                return issued_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        issued_at = _parse_issued_at(d.pop("issued_at"))

        def _parse_due_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                due_at_type_0 = datetime.datetime.fromisoformat(data)

                return due_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        due_at = _parse_due_at(d.pop("due_at"))

        def _parse_paid_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                paid_at_type_0 = datetime.datetime.fromisoformat(data)

                return paid_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        paid_at = _parse_paid_at(d.pop("paid_at"))

        def _parse_voided_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                voided_at_type_0 = datetime.datetime.fromisoformat(data)

                return voided_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        voided_at = _parse_voided_at(d.pop("voided_at"))

        invoice = cls(
            object_=object_,
            id=id,
            kind=kind,
            state=state,
            number=number,
            currency=currency,
            period_start=period_start,
            period_end=period_end,
            time_zone=time_zone,
            subtotal=subtotal,
            discount=discount,
            tax_rate=tax_rate,
            tax_note=tax_note,
            tax=tax,
            total=total,
            credited=credited,
            corrected=corrected,
            paid=paid,
            due=due,
            corrects_id=corrects_id,
            reason=reason,
            issued_at=issued_at,
            due_at=due_at,
            paid_at=paid_at,
            voided_at=voided_at,
        )

        invoice.additional_properties = d
        return invoice

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
