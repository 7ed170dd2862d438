"""Invoices and credit notes, what is paid by credit, and how far usage is exported."""

from __future__ import annotations

from decimal import Decimal

from django.db import models
from uuid6 import uuid7

from backend.billing.models.plans import TAX_NOTE_LENGTH
from backend.tenancy.models import TenantRow


class InvoiceKind(models.TextChoices):
    INVOICE = "invoice"
    CREDIT_NOTE = "credit_note"


class InvoiceState(models.TextChoices):
    DRAFT = "draft"
    FINAL = "final"
    PAID = "paid"
    VOID = "void"


COUPON_LINE = "coupon"
CORRECTION_LINE = "correction"
USAGE_LINE = "usage"
"""Kinds of lines. The others are those of backend.billing.rating."""


class LegalEntity(models.Model):
    """A seller. Each of its series of numbers, one per kind of document, has no gap.

    A cell has legal entities of its own, so that two cells never count in one series.
    """

    code = models.CharField(primary_key=True, max_length=32)
    legal_name = models.CharField(max_length=200)
    address = models.TextField(default="", blank=True)
    country = models.CharField(max_length=2, default="", blank=True)
    tax_id = models.CharField(max_length=64, default="", blank=True)
    payment_details = models.TextField(default="", blank=True)
    invoice_prefix = models.CharField(max_length=16, default="INV-")
    credit_note_prefix = models.CharField(max_length=16, default="CN-")
    # Whether the entity sells to tenants whose account names no entity.
    is_default = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "legal entities"
        constraints = [
            models.UniqueConstraint(
                fields=["is_default"], condition=models.Q(is_default=True), name="legal_entity_one_default"
            )
        ]


class BillingPeriod(TenantRow):
    """A month of a tenant that has ended: its invoices are drafts until closed_at. Voiding one may open it again."""

    start_at = models.DateTimeField()
    end_at = models.DateTimeField()
    time_zone = models.CharField(max_length=64)
    drafted_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "start_at"], name="billing_period_once"),
            models.CheckConstraint(
                condition=models.Q(end_at__gt=models.F("start_at")), name="billing_period_has_a_span"
            ),
        ]


class InvoiceSeries(models.Model):
    """The last number that a legal entity has given to a kind of document. Its row is locked until the commit."""

    entity = models.ForeignKey(LegalEntity, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=16, choices=InvoiceKind.choices)
    last = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["entity", "kind"], name="invoice_series_once")]


class InvoiceNumber(models.Model):
    """A number that was given to a document. It stays when the tenant is erased or moves, as the proof of no gap."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    entity = models.ForeignKey(LegalEntity, on_delete=models.PROTECT, related_name="+", db_index=False)
    kind = models.CharField(max_length=16, choices=InvoiceKind.choices)
    sequence = models.BigIntegerField()
    invoice_id = models.UUIDField()
    given_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["entity", "kind", "sequence"], name="invoice_number_given_once")]


class Invoice(TenantRow):
    """A document to one tenant. The database refuses to change its amounts and lines once it has a number.

    Amounts are multiples of the currency's minor unit. subtotal: sum of the lines except coupons; discount: sum of the
    coupons, above 0 if discounted usage was taken back; tax: of both together; total: their sum; credited: paid by
    grants, negative if the document made a grant; corrected: sum of the credit notes that lowered an unpaid invoice.
    """

    kind = models.CharField(max_length=16, choices=InvoiceKind.choices, default=InvoiceKind.INVOICE)
    state = models.CharField(max_length=8, choices=InvoiceState.choices, default=InvoiceState.DRAFT)
    entity = models.ForeignKey(LegalEntity, on_delete=models.PROTECT, related_name="+", db_index=False)
    # Null while the document is a draft.
    sequence = models.BigIntegerField(null=True)
    number = models.CharField(max_length=48, default="", blank=True)
    period_start = models.DateTimeField()
    period_end = models.DateTimeField()
    time_zone = models.CharField(max_length=64)
    locale = models.CharField(max_length=16, default="en")
    currency = models.CharField(max_length=3)
    # Both parties as they were when the document was made final.
    seller = models.JSONField(default=dict)
    buyer = models.JSONField(default=dict)
    tax_rate = models.DecimalField(max_digits=6, decimal_places=5, default=0)
    tax_note = models.CharField(max_length=TAX_NOTE_LENGTH, default="", blank=True)
    subtotal = models.DecimalField(max_digits=20, decimal_places=4, default=0)
    discount = models.DecimalField(max_digits=20, decimal_places=4, default=0)
    tax = models.DecimalField(max_digits=20, decimal_places=4, default=0)
    total = models.DecimalField(max_digits=20, decimal_places=4, default=0)
    credited = models.DecimalField(max_digits=20, decimal_places=4, default=0)
    corrected = models.DecimalField(max_digits=20, decimal_places=4, default=0)
    # How many reminders of the overdue invoice its tenant got (backend.billing.services.invoicing.overdue).
    reminders = models.PositiveSmallIntegerField(default=0)
    # A credit note names the invoice that it corrects, why, and who made it.
    corrects_id = models.UUIDField(null=True)
    reason = models.CharField(max_length=500, default="", blank=True)
    author = models.CharField(max_length=200, default="", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    issued_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    paid_at = models.DateTimeField(null=True)
    voided_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "period_start", "currency"],
                condition=models.Q(kind="invoice") & ~models.Q(state="void"),
                name="invoice_once_a_period",
            ),
            models.CheckConstraint(
                condition=models.Q(state="draft", sequence=None) | models.Q(sequence__gt=0) & ~models.Q(state="draft"),
                name="invoice_number_if_final",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "period_start"], name="invoice_tenant_period"),
            models.Index(fields=["due_at"], condition=models.Q(state="final"), name="invoice_unpaid"),
        ]

    @property
    def payable(self) -> Decimal:
        """Return what credit and corrections leave of the total, whether it was paid or not."""
        payable: Decimal = self.total - self.credited - self.corrected
        return payable

    @property
    def due(self) -> Decimal:
        """Return the amount that is still to be paid: 0 of a document that is paid or void."""
        return Decimal(0) if self.state in (InvoiceState.PAID, InvoiceState.VOID) else self.payable

    @property
    def paid(self) -> Decimal:
        """Return the amount that was paid, apart from credit."""
        return self.payable if self.state == InvoiceState.PAID else Decimal(0)


class InvoiceLine(TenantRow):
    """One line of a document.

    exact_amount: of a usage line, the sum of the ledger's rows; amount: rounded to the currency's minor unit.
    usage_start: start of the period in which the usage occurred. late: that period had been invoiced before.
    """

    invoice_id = models.UUIDField()
    ordinal = models.PositiveIntegerField()
    kind = models.CharField(max_length=16)
    meter = models.CharField(max_length=32, default="", blank=True)
    variant = models.CharField(max_length=128, default="", blank=True)
    price_id = models.UUIDField(null=True)
    price_version = models.PositiveIntegerField(null=True)
    unit_amount = models.DecimalField(max_digits=20, decimal_places=12, null=True)
    quantity = models.DecimalField(max_digits=24, decimal_places=6, default=0)
    exact_amount = models.DecimalField(max_digits=24, decimal_places=10, default=0)
    amount = models.DecimalField(max_digits=20, decimal_places=4)
    late = models.BooleanField(default=False)
    usage_start = models.DateTimeField(null=True)
    description = models.CharField(max_length=300, default="", blank=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "invoice_id", "ordinal"], name="invoice_line_once")]


class CreditGrant(TenantRow):
    """Money that pays invoices in its currency until it expires. Never changed: what is left follows from its uses."""

    amount = models.DecimalField(max_digits=20, decimal_places=4)
    currency = models.CharField(max_length=3)
    reason = models.CharField(max_length=500)
    author = models.CharField(max_length=200)
    granted_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    # Names a grant that may be made once only, such as that of a credit note; "" for none.
    source = models.CharField(max_length=64, default="", blank=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.CheckConstraint(condition=models.Q(amount__gt=0), name="credit_grant_positive"),
            models.UniqueConstraint(
                fields=["tenant", "source"], condition=~models.Q(source=""), name="credit_grant_source_once"
            ),
        ]


class CreditUse(TenantRow):
    """What an invoice took of a grant; a negative amount gives it back when the invoice becomes void."""

    grant_id = models.UUIDField()
    invoice_id = models.UUIDField()
    amount = models.DecimalField(max_digits=20, decimal_places=4)
    used_at = models.DateTimeField(auto_now_add=True)

    class Meta(TenantRow.Meta):
        indexes = [models.Index(fields=["tenant", "grant_id"], name="credit_use_grant")]


class Coupon(models.Model):
    """A discount on usage before tax: a percentage, or an amount of money a month, for a number of months."""

    code = models.CharField(primary_key=True, max_length=32)
    percent = models.DecimalField(max_digits=7, decimal_places=4, null=True)
    amount = models.DecimalField(max_digits=20, decimal_places=4, null=True)
    currency = models.CharField(max_length=3, default="", blank=True)
    months = models.PositiveSmallIntegerField(default=1)
    redeem_until = models.DateTimeField(null=True)
    author = models.CharField(max_length=200)
    note = models.CharField(max_length=200, default="", blank=True)
    entered_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(percent__gt=0, percent__lte=100, amount=None, currency="")
                | models.Q(percent=None, amount__gt=0) & ~models.Q(currency=""),
                name="coupon_percent_or_amount",
            )
        ]


class CouponRedemption(TenantRow):
    """A tenant's use of a coupon, for the periods that begin from start_at up to end_at."""

    coupon_code = models.CharField(max_length=32)
    author = models.CharField(max_length=200)
    start_at = models.DateTimeField()
    end_at = models.DateTimeField()

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "coupon_code"], name="coupon_once_per_tenant")]


class ExportState(TenantRow):
    """How far one tenant's usage, or which of its invoices, has reached a billing system outside.

    subject: "usage", "customer", or "invoice:", "credit_note:", "void:", "paid:" with the id of the document.
    exported_until: usage recorded before that moment was sent. skipped: billable rows that were too old for the system
    when they were sent, the last of them at skipped_at. failures: in a row, 0 once the subject was taken; last_error:
    of the last one.

    compared_at: the last comparison of usage; differences: what it found, in words; agreed_until: the last one that
    found nothing.
    """

    sink = models.CharField(max_length=16)
    subject = models.CharField(max_length=64)
    exported_until = models.DateTimeField(null=True)
    external_id = models.CharField(max_length=200, default="", blank=True)
    skipped = models.BigIntegerField(default=0)
    skipped_at = models.DateTimeField(null=True)
    compared_at = models.DateTimeField(null=True)
    agreed_until = models.DateTimeField(null=True)
    differences = models.JSONField(default=list)
    failures = models.PositiveIntegerField(default=0)
    last_error = models.CharField(max_length=200, default="", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "sink", "subject"], name="export_state_once")]
