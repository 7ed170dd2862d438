"""Bodies of the billing account."""

from __future__ import annotations

from typing import Any
from zoneinfo import available_timezones

from rest_framework import serializers

from backend.api.bodies import NameField, StrictSerializer

COUNTRY = r"^([A-Z]{2})?$"
TAX_ID = r"^([A-Z0-9][A-Z0-9 ./-]{2,38}[A-Z0-9])?$"
_HELP = {
    "legal_name": "Name of the buyer on invoices.",
    "address_line_1": "Street and number.",
    "address_line_2": "Second line of the address; empty if there is none.",
    "postal_code": "Postal code.",
    "city": "City.",
    "region": "State or region; empty if there is none.",
    "country": "Country by its ISO 3166-1 code of two capital letters; empty if unknown.",
    "tax_id": "Tax number as invoices print it: 4 to 40 capital letters, digits, spaces, dots, dashes and slashes, or "
    "empty.",
    "email": "Address that receives mails about limits and invoices; empty if there is none. A new address is mailed a "
    "link, at most one an hour, and gets mails once a reader has confirmed there.",
    "time_zone": "Time zone by its IANA name, such as `Europe/Berlin`. Months of invoices end at midnight there. After "
    "a change the next month begins where the last one ended.",
}


class BillingAccountRequestSerializer(StrictSerializer):
    """Fields to change; a field that is left out stays as it is."""

    legal_name = NameField(max_length=200, required=False, help_text=_HELP["legal_name"])
    address_line_1 = NameField(max_length=200, required=False, allow_blank=True, help_text=_HELP["address_line_1"])
    address_line_2 = NameField(max_length=200, required=False, allow_blank=True, help_text=_HELP["address_line_2"])
    postal_code = NameField(max_length=20, required=False, allow_blank=True, help_text=_HELP["postal_code"])
    city = NameField(max_length=100, required=False, allow_blank=True, help_text=_HELP["city"])
    region = NameField(max_length=100, required=False, allow_blank=True, help_text=_HELP["region"])
    country = serializers.RegexField(COUNTRY, required=False, allow_blank=True, help_text=_HELP["country"])
    tax_id = serializers.RegexField(TAX_ID, required=False, allow_blank=True, help_text=_HELP["tax_id"])
    email = serializers.EmailField(max_length=254, required=False, allow_blank=True, help_text=_HELP["email"])
    time_zone = serializers.CharField(max_length=64, required=False, help_text=_HELP["time_zone"])

    def validate_time_zone(self, name: str) -> str:
        if name not in available_timezones():
            raise serializers.ValidationError("There is no time zone of this name.", code="unknown_time_zone")
        return name


class BillingAccountSerializer(serializers.Serializer[Any]):
    """Whom your invoices are addressed to, and by which clock and in which currency you are billed."""

    object = serializers.CharField(default="billing_account", read_only=True, help_text="Always `billing_account`.")
    legal_name = serializers.CharField(help_text=_HELP["legal_name"])
    address_line_1 = serializers.CharField(help_text=_HELP["address_line_1"])
    address_line_2 = serializers.CharField(help_text=_HELP["address_line_2"])
    postal_code = serializers.CharField(help_text=_HELP["postal_code"])
    city = serializers.CharField(help_text=_HELP["city"])
    region = serializers.CharField(help_text=_HELP["region"])
    country = serializers.CharField(help_text=_HELP["country"])
    tax_id = serializers.CharField(help_text=_HELP["tax_id"])
    email = serializers.CharField(help_text=_HELP["email"])
    email_confirmed = serializers.BooleanField(
        help_text="Whether mails are sent to `email`: a reader there has confirmed it, or it is empty. The own address "
        "of an active owner, admin or billing member, and a confirmed notice address, get mails without that."
    )
    time_zone = serializers.CharField(help_text=_HELP["time_zone"])
    tax_rate = serializers.DecimalField(
        max_digits=6,
        decimal_places=5,
        normalize_output=True,
        help_text="Tax on invoices as a fraction: 0.19 is 19 %. Your operator sets it.",
    )
    tax_note = serializers.CharField(
        help_text="Text about the tax on invoices: `reverse_charge`, `exempt`, or another text that is printed as it "
        "is; empty for none. Your operator sets it."
    )
    currency = serializers.CharField(help_text="Currency of your charges by its ISO 4217 code. Your plan decides it.")
    updated_at = serializers.DateTimeField(allow_null=True, help_text="When it was changed last; null if never.")

    def to_representation(self, instance: Any) -> dict[str, Any]:
        account, currency = instance
        fields = {name: getattr(account, name) for name in _HELP}
        fields |= {name: getattr(account, name) for name in ("email_confirmed", "tax_rate", "tax_note", "updated_at")}
        return super().to_representation({**fields, "currency": currency})
