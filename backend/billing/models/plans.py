"""Plans, what a tenant subscribes to, and who is billed."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from uuid6 import uuid7

from backend.billing.currencies import CURRENCIES
from backend.billing.models.meters import UsageMeter
from backend.billing.models.prices import PriceBook
from backend.tenancy.models import TenantRow

TAX_NOTE_LENGTH = 200


class Plan(models.Model):
    """What can be subscribed to. code: the value of tenancy.Tenant.plan."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    code = models.SlugField(max_length=32, unique=True)
    name = models.CharField(max_length=100)

    def __str__(self) -> str:
        return self.name


class PlanVersion(models.Model):
    """The terms of a plan for who subscribes from effective_from up to effective_to. Append-only, as a price is.

    minimum_amount: lowest charge of a month, in the currency of the book. trial_days: days from the begin of a
    subscription whose usage is free.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="versions")
    version = models.PositiveIntegerField()
    price_book = models.ForeignKey(PriceBook, on_delete=models.PROTECT, related_name="+")
    minimum_amount = models.DecimalField(max_digits=20, decimal_places=3, default=0)
    trial_days = models.PositiveIntegerField(default=0)
    effective_from = models.DateTimeField()
    effective_to = models.DateTimeField(null=True, blank=True)
    author = models.CharField(max_length=200)
    entered_at = models.DateTimeField(default=timezone.now, db_default=Now(), editable=False)
    note = models.CharField(max_length=200, default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan", "version"], name="planversion_once"),
            models.CheckConstraint(condition=models.Q(minimum_amount__gte=0), name="planversion_minimum"),
            models.CheckConstraint(
                condition=models.Q(effective_to__isnull=True) | models.Q(effective_to__gt=models.F("effective_from")),
                name="planversion_has_a_span",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.plan.code} version {self.version}"


class PlanAllowance(models.Model):
    """Units of a meter that a month includes. variant: as in Price, "" for the variants without a row of their own."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    plan_version = models.ForeignKey(PlanVersion, on_delete=models.PROTECT, related_name="allowances")
    meter = models.CharField(max_length=32, choices=UsageMeter.choices)
    variant = models.CharField(max_length=100, default="", blank=True)
    quantity = models.DecimalField(max_digits=24, decimal_places=6)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan_version", "meter", "variant"], name="planallowance_once"),
            models.CheckConstraint(condition=models.Q(quantity__gte=0), name="planallowance_not_negative"),
        ]


class TierMode(models.TextChoices):
    """graduated: each unit at the amount of the tier that it falls in. volume: all units at the last tier's amount."""

    GRADUATED = "graduated"
    VOLUME = "volume"


class PlanTier(models.Model):
    """The amount of a unit from the from_quantity'th unit of a month on, after the allowance. Replaces the book's."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    plan_version = models.ForeignKey(PlanVersion, on_delete=models.PROTECT, related_name="tiers")
    meter = models.CharField(max_length=32, choices=UsageMeter.choices)
    variant = models.CharField(max_length=100, default="", blank=True)
    mode = models.CharField(max_length=12, choices=TierMode.choices)
    from_quantity = models.DecimalField(max_digits=24, decimal_places=6)
    unit_amount = models.DecimalField(max_digits=20, decimal_places=12)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan_version", "meter", "variant", "from_quantity"], name="plantier_once"),
            models.CheckConstraint(
                condition=models.Q(unit_amount__gte=0, from_quantity__gte=0), name="plantier_not_negative"
            ),
        ]


class PlanLimit(models.Model):
    """What a tenant of the plan may not exceed in a month, in an hour, or at one time. The tenant cannot lift it."""

    class Name(models.TextChoices):
        MEDIA_MINUTES = "media_minutes"
        QUESTIONS = "questions"
        STORED_BYTES = "stored_bytes"
        VIDEOS = "videos"
        OPEN_JOBS = "open_jobs"
        CHARGE = "charge"
        TOKENS = "tokens"
        FREE_WORK = "free_work"
        RETRIES = "retries"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    plan_version = models.ForeignKey(PlanVersion, on_delete=models.PROTECT, related_name="limits")
    name = models.CharField(max_length=16, choices=Name.choices)
    amount = models.DecimalField(max_digits=24, decimal_places=6)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan_version", "name"], name="planlimit_once"),
            models.CheckConstraint(condition=models.Q(amount__gte=0), name="planlimit_not_negative"),
        ]


class Subscription(TenantRow):
    """The version of a plan that a tenant is billed by, from effective_from up to effective_to; never two at a time."""

    plan_version = models.ForeignKey(PlanVersion, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    effective_from = models.DateTimeField()
    effective_to = models.DateTimeField(null=True)
    # Usage up to here is free.
    trial_until = models.DateTimeField(null=True)
    author = models.CharField(max_length=200)
    entered_at = models.DateTimeField(auto_now_add=True)
    reason = models.CharField(max_length=200, default="", blank=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.CheckConstraint(
                condition=models.Q(effective_to__isnull=True) | models.Q(effective_to__gt=models.F("effective_from")),
                name="subscription_has_a_span",
            )
        ]


class TaxNote(models.TextChoices):
    """Why an invoice has no tax. The law of most countries wants the reason on the invoice."""

    REVERSE_CHARGE = "reverse_charge"
    EXEMPT = "exempt"


class BillingAccount(TenantRow):
    """Who a tenant's invoices are addressed to. time_zone: by which its months end. tax_rate: a fraction, 0.19 is 19 %.

    tax_note: a value of TaxNote, which documents print in their language, or a text of its own.
    A tenant without a row is billed in USD, by UTC, without tax.
    """

    legal_name = models.CharField(max_length=200, default="", blank=True)
    address_line_1 = models.CharField(max_length=200, default="", blank=True)
    address_line_2 = models.CharField(max_length=200, default="", blank=True)
    postal_code = models.CharField(max_length=20, default="", blank=True)
    city = models.CharField(max_length=100, default="", blank=True)
    region = models.CharField(max_length=100, default="", blank=True)
    country = models.CharField(max_length=2, default="", blank=True)
    tax_id = models.CharField(max_length=40, default="", blank=True)
    tax_rate = models.DecimalField(max_digits=6, decimal_places=5, default=0)
    tax_note = models.CharField(max_length=TAX_NOTE_LENGTH, default="", blank=True)
    currency = models.CharField(max_length=3, choices=[(code, code) for code in CURRENCIES], default="USD")
    time_zone = models.CharField(max_length=64, default="UTC")
    # Another address than that of a member or of the notices gets mails once its reader has opened a link, whose token
    # comes from email_proof.
    email = models.EmailField(default="", blank=True)
    email_confirmed = models.BooleanField(default=True)
    email_proof = models.UUIDField(null=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant"], name="billingaccount_once"),
            models.CheckConstraint(condition=models.Q(tax_rate__gte=0, tax_rate__lt=1), name="billingaccount_tax_rate"),
        ]
