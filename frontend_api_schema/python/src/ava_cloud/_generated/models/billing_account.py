from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="BillingAccount")


@_attrs_define
class BillingAccount:
    """Whom your invoices are addressed to, and by which clock and in which currency you are billed.

    Attributes:
        object_ (str): Always `billing_account`. Default: 'billing_account'.
        legal_name (str): Name of the buyer on invoices.
        address_line_1 (str): Street and number.
        address_line_2 (str): Second line of the address; empty if there is none.
        postal_code (str): Postal code.
        city (str): City.
        region (str): State or region; empty if there is none.
        country (str): Country by its ISO 3166-1 code of two capital letters; empty if unknown.
        tax_id (str): Tax number as invoices print it: 4 to 40 capital letters, digits, spaces, dots, dashes and
            slashes, or empty.
        email (str): Address that receives mails about limits and invoices; empty if there is none. A new address is
            mailed a link, at most one an hour, and gets mails once a reader has confirmed there.
        email_confirmed (bool): Whether mails are sent to `email`: a reader there has confirmed it, or it is empty. The
            own address of an active owner, admin or billing member, and a confirmed notice address, get mails without that.
        time_zone (str): Time zone by its IANA name, such as `Europe/Berlin`. Months of invoices end at midnight there.
            After a change the next month begins where the last one ended.
        tax_rate (str): Tax on invoices as a fraction: 0.19 is 19 %. Your operator sets it.
        tax_note (str): Text about the tax on invoices: `reverse_charge`, `exempt`, or another text that is printed as
            it is; empty for none. Your operator sets it.
        currency (str): Currency of your charges by its ISO 4217 code. Your plan decides it.
        updated_at (datetime.datetime | None): When it was changed last; null if never.
    """

    legal_name: str
    address_line_1: str
    address_line_2: str
    postal_code: str
    city: str
    region: str
    country: str
    tax_id: str
    email: str
    email_confirmed: bool
    time_zone: str
    tax_rate: str
    tax_note: str
    currency: str
    updated_at: datetime.datetime | None
    object_: str = "billing_account"
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        object_ = self.object_

        legal_name = self.legal_name

        address_line_1 = self.address_line_1

        address_line_2 = self.address_line_2

        postal_code = self.postal_code

        city = self.city

        region = self.region

        country = self.country

        tax_id = self.tax_id

        email = self.email

        email_confirmed = self.email_confirmed

        time_zone = self.time_zone

        tax_rate = self.tax_rate

        tax_note = self.tax_note

        currency = self.currency

        updated_at: None | str
        if isinstance(self.updated_at, datetime.datetime):
            updated_at = self.updated_at.isoformat()
        else:
            updated_at = self.updated_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "legal_name": legal_name,
                "address_line_1": address_line_1,
                "address_line_2": address_line_2,
                "postal_code": postal_code,
                "city": city,
                "region": region,
                "country": country,
                "tax_id": tax_id,
                "email": email,
                "email_confirmed": email_confirmed,
                "time_zone": time_zone,
                "tax_rate": tax_rate,
                "tax_note": tax_note,
                "currency": currency,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        object_ = d.pop("object")

        legal_name = d.pop("legal_name")

        address_line_1 = d.pop("address_line_1")

        address_line_2 = d.pop("address_line_2")

        postal_code = d.pop("postal_code")

        city = d.pop("city")

        region = d.pop("region")

        country = d.pop("country")

        tax_id = d.pop("tax_id")

        email = d.pop("email")

        email_confirmed = d.pop("email_confirmed")

        time_zone = d.pop("time_zone")

        tax_rate = d.pop("tax_rate")

        tax_note = d.pop("tax_note")

        currency = d.pop("currency")

        def _parse_updated_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                updated_at_type_0 = datetime.datetime.fromisoformat(data)

                return updated_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        updated_at = _parse_updated_at(d.pop("updated_at"))

        billing_account = cls(
            object_=object_,
            legal_name=legal_name,
            address_line_1=address_line_1,
            address_line_2=address_line_2,
            postal_code=postal_code,
            city=city,
            region=region,
            country=country,
            tax_id=tax_id,
            email=email,
            email_confirmed=email_confirmed,
            time_zone=time_zone,
            tax_rate=tax_rate,
            tax_note=tax_note,
            currency=currency,
            updated_at=updated_at,
        )

        billing_account.additional_properties = d
        return billing_account

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
