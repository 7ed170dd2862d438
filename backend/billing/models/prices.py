"""Price books and their prices."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from uuid6 import uuid7

from backend.billing.currencies import CURRENCIES
from backend.billing.models.meters import UsageMeter


class BookKind(models.TextChoices):
    COST = "cost"
    PRICE = "price"


class PriceBook(models.Model):
    """A set of prices in one currency: the costs of our own work (kind cost, one book), or what customers pay.

    tenant_id: the tenant whose own prices these are; null for every tenant. It is no foreign key, because a tenant's
    book is written in an installation before the tenant moves there, and stays when the tenant is erased.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    kind = models.CharField(max_length=8, choices=BookKind.choices)
    code = models.SlugField(max_length=64, unique=True)
    currency = models.CharField(max_length=3, choices=[(code, code) for code in CURRENCIES], default="USD")
    tenant_id = models.UUIDField(null=True, blank=True)
    note = models.CharField(max_length=200, default="", blank=True)
    author = models.CharField(max_length=200, default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind"], condition=models.Q(kind="cost"), name="pricebook_one_of_costs"),
            models.UniqueConstraint(
                fields=["tenant_id", "currency"],
                condition=models.Q(tenant_id__isnull=False),
                name="pricebook_one_per_tenant",
            ),
            models.CheckConstraint(
                condition=~models.Q(kind="cost") | models.Q(currency="USD", tenant_id__isnull=True),
                name="pricebook_costs_in_dollars",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.code} ({self.currency})"


class Price(models.Model):
    """The amount of one unit of a meter, from effective_from up to effective_to. Append-only: only effective_to is set,
    once, when a later version follows.

    model: a model's name, "" for any. variant: `method:effort` or `method` of a question, `profile:stages` or `profile`
    of media, "" for any. version: counted from 1 for each (book, meter, model, variant). back_dated: the price was
    entered after it took effect, so earlier rows of the ledger may have been valued with another one.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    book = models.ForeignKey(PriceBook, on_delete=models.PROTECT, related_name="prices")
    meter = models.CharField(max_length=32, choices=UsageMeter.choices)
    model = models.CharField(max_length=200, default="", blank=True)
    variant = models.CharField(max_length=100, default="", blank=True)
    unit_amount = models.DecimalField(max_digits=20, decimal_places=12)
    version = models.PositiveIntegerField()
    effective_from = models.DateTimeField()
    effective_to = models.DateTimeField(null=True, blank=True)
    back_dated = models.BooleanField(default=False)
    author = models.CharField(max_length=200)
    entered_at = models.DateTimeField(default=timezone.now, db_default=Now(), editable=False)
    note = models.CharField(max_length=200, default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["book", "meter", "model", "variant", "version"], name="price_version_once"),
            models.CheckConstraint(condition=models.Q(unit_amount__gte=0), name="price_not_negative"),
            models.CheckConstraint(
                condition=models.Q(effective_to__isnull=True) | models.Q(effective_to__gt=models.F("effective_from")),
                name="price_has_a_span",
            ),
        ]

    def __str__(self) -> str:
        named = "/".join(part for part in (self.meter.replace("_", " "), self.model, self.variant) if part)
        return f"{self.book.code} {named} version {self.version}"
