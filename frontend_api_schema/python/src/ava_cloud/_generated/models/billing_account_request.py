from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="BillingAccountRequest")


@_attrs_define
class BillingAccountRequest:
    """Fields to change; a field that is left out stays as it is.

    Attributes:
        legal_name (str | Unset): Name of the buyer on invoices.
        address_line_1 (str | Unset): Street and number.
        address_line_2 (str | Unset): Second line of the address; empty if there is none.
        postal_code (str | Unset): Postal code.
        city (str | Unset): City.
        region (str | Unset): State or region; empty if there is none.
        country (str | Unset): Country by its ISO 3166-1 code of two capital letters; empty if unknown.
        tax_id (str | Unset): Tax number as invoices print it: 4 to 40 capital letters, digits, spaces, dots, dashes and
            slashes, or empty.
        email (str | Unset): Address that receives mails about limits and invoices; empty if there is none. A new
            address is mailed a link, at most one an hour, and gets mails once a reader has confirmed there.
        time_zone (str | Unset): Time zone by its IANA name, such as `Europe/Berlin`. Months of invoices end at midnight
            there. After a change the next month begins where the last one ended.
    """

    legal_name: str | Unset = UNSET
    address_line_1: str | Unset = UNSET
    address_line_2: str | Unset = UNSET
    postal_code: str | Unset = UNSET
    city: str | Unset = UNSET
    region: str | Unset = UNSET
    country: str | Unset = UNSET
    tax_id: str | Unset = UNSET
    email: str | Unset = UNSET
    time_zone: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        legal_name = self.legal_name

        address_line_1 = self.address_line_1

        address_line_2 = self.address_line_2

        postal_code = self.postal_code

        city = self.city

        region = self.region

        country: str | Unset
        if isinstance(self.country, Unset):
            country = UNSET
        else:
            country = self.country

        tax_id: str | Unset
        if isinstance(self.tax_id, Unset):
            tax_id = UNSET
        else:
            tax_id = self.tax_id

        email: str | Unset
        if isinstance(self.email, Unset):
            email = UNSET
        else:
            email = self.email

        time_zone = self.time_zone

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if legal_name is not UNSET:
            field_dict["legal_name"] = legal_name
        if address_line_1 is not UNSET:
            field_dict["address_line_1"] = address_line_1
        if address_line_2 is not UNSET:
            field_dict["address_line_2"] = address_line_2
        if postal_code is not UNSET:
            field_dict["postal_code"] = postal_code
        if city is not UNSET:
            field_dict["city"] = city
        if region is not UNSET:
            field_dict["region"] = region
        if country is not UNSET:
            field_dict["country"] = country
        if tax_id is not UNSET:
            field_dict["tax_id"] = tax_id
        if email is not UNSET:
            field_dict["email"] = email
        if time_zone is not UNSET:
            field_dict["time_zone"] = time_zone

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        legal_name = d.pop("legal_name", UNSET)

        address_line_1 = d.pop("address_line_1", UNSET)

        address_line_2 = d.pop("address_line_2", UNSET)

        postal_code = d.pop("postal_code", UNSET)

        city = d.pop("city", UNSET)

        region = d.pop("region", UNSET)

        def _parse_country(data: object) -> str | Unset:
            if isinstance(data, Unset):
                return data
            return cast(str | Unset, data)

        country = _parse_country(d.pop("country", UNSET))

        def _parse_tax_id(data: object) -> str | Unset:
            if isinstance(data, Unset):
                return data
            return cast(str | Unset, data)

        tax_id = _parse_tax_id(d.pop("tax_id", UNSET))

        def _parse_email(data: object) -> str | Unset:
            if isinstance(data, Unset):
                return data
            return cast(str | Unset, data)

        email = _parse_email(d.pop("email", UNSET))

        time_zone = d.pop("time_zone", UNSET)

        billing_account_request = cls(
            legal_name=legal_name,
            address_line_1=address_line_1,
            address_line_2=address_line_2,
            postal_code=postal_code,
            city=city,
            region=region,
            country=country,
            tax_id=tax_id,
            email=email,
            time_zone=time_zone,
        )

        billing_account_request.additional_properties = d
        return billing_account_request

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
