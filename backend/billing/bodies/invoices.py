"""Bodies of invoices, their lines, and credit."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.api.bodies import StrictSerializer
from backend.api.public_ids import PublicIdField
from backend.billing.bodies.amounts import ExactDecimalField
from backend.billing.models import InvoiceKind, InvoiceState


class InvoiceQuerySerializer(StrictSerializer):
    """Which documents are listed."""

    state = serializers.ChoiceField(
        choices=InvoiceState.choices, required=False, help_text="Only documents in this state."
    )
    kind = serializers.ChoiceField(
        choices=InvoiceKind.choices, required=False, help_text="Only invoices, or only credit notes."
    )


class InvoiceSerializer(serializers.Serializer[Any]):
    """An invoice or a credit note. Amounts are in its currency."""

    object = serializers.CharField(default="invoice", read_only=True, help_text="Always `invoice`.")
    id = PublicIdField("ivc", help_text="Id of the document.")
    kind = serializers.ChoiceField(choices=InvoiceKind.choices, help_text="Whether it is an invoice or a credit note.")
    state = serializers.ChoiceField(
        choices=InvoiceState.choices, help_text="A draft may still change. The other states have a number."
    )
    number = serializers.CharField(help_text="Number of the document; empty for a draft.")
    currency = serializers.CharField(help_text="Currency of all amounts, by its ISO 4217 code.")
    period_start = serializers.DateTimeField(help_text="Start of the month on your clock.")
    period_end = serializers.DateTimeField(help_text="End of the month on your clock, not included.")
    time_zone = serializers.CharField(help_text="Time zone by which the month begins and ends.")
    subtotal = ExactDecimalField(help_text="Sum of the lines before coupons and tax.")
    discount = ExactDecimalField(help_text="Sum of the coupons. Positive if discounted usage was taken back.")
    tax_rate = ExactDecimalField(help_text="Tax as a fraction, such as 0.19.")
    tax_note = serializers.CharField(
        help_text="Why the document has no tax: `reverse_charge`, `exempt` or another text, which the PDF prints. "
        "Empty if nothing is to be said."
    )
    tax = ExactDecimalField(help_text="Tax on the subtotal and the discount.")
    total = ExactDecimalField(help_text="Subtotal, discount and tax together.")
    credited = ExactDecimalField(help_text="What your credit paid. Negative if the document gave you credit.")
    corrected = ExactDecimalField(help_text="What credit notes took off the invoice before it was paid.")
    paid = ExactDecimalField(help_text="What was paid apart from credit; 0 until the document is paid.")
    due = ExactDecimalField(
        help_text="What is still to be paid: the total less credit and credit notes, and 0 if it is paid or void."
    )
    corrects_id = PublicIdField("ivc", allow_null=True, help_text="The invoice that a credit note corrects, or null.")
    reason = serializers.CharField(help_text="Why a credit note was made; empty for an invoice.")
    issued_at = serializers.DateTimeField(allow_null=True, help_text="When the document got its number, or null.")
    due_at = serializers.DateTimeField(allow_null=True, help_text="Last day on which to pay an invoice, or null.")
    paid_at = serializers.DateTimeField(allow_null=True, help_text="When the document was paid, or null.")
    voided_at = serializers.DateTimeField(allow_null=True, help_text="When the invoice was voided, or null.")


class InvoiceLineSerializer(serializers.Serializer[Any]):
    """One line of a document."""

    line = serializers.IntegerField(source="ordinal", help_text="Position of the line, counted from 1.")
    kind = serializers.CharField(
        help_text="`usage`, `allowance`, `tier`, `trial`, `minimum`, `coupon` or `correction`."
    )
    meter = serializers.CharField(help_text="What was metered; empty if the line is not of a meter.")
    variant = serializers.CharField(help_text="Variant of the price, such as `ava:low`; empty for any.")
    price_version = serializers.IntegerField(allow_null=True, help_text="Version of the price, or null.")
    unit_amount = ExactDecimalField(allow_null=True, help_text="Price of one unit, or null.")
    quantity = ExactDecimalField(help_text="Units of the meter.")
    exact_amount = ExactDecimalField(help_text="Amount before it was rounded.")
    amount = ExactDecimalField(help_text="Amount in the smallest unit of the currency.")
    late = serializers.BooleanField(help_text="Whether the usage belongs to a month that was invoiced before.")
    usage_start = serializers.DateTimeField(allow_null=True, help_text="Start of the month of the usage, or null.")
    description = serializers.CharField(help_text="Additional text of the line.")


class CreditSerializer(serializers.Serializer[Any]):
    """Credit that pays your invoices, the oldest first."""

    object = serializers.CharField(default="credit", read_only=True, help_text="Always `credit`.")
    id = PublicIdField("cre", source="grant.id", help_text="Id of the credit.")
    amount = ExactDecimalField(source="grant.amount", help_text="Amount that was granted.")
    left = ExactDecimalField(help_text="Amount that no invoice has used yet.")
    currency = serializers.CharField(source="grant.currency", help_text="Currency, by its ISO 4217 code.")
    reason = serializers.CharField(source="grant.reason", help_text="Why the credit was granted.")
    granted_at = serializers.DateTimeField(source="grant.granted_at", help_text="When the credit was granted.")
    expires_at = serializers.DateTimeField(
        source="grant.expires_at", allow_null=True, help_text="When the credit expires, or null."
    )
