"""What a version of a plan would have cost: the usage of a month, rated by the present terms and by the new ones.

The monthly sums of the largest tenants of the plan are read as the console's reading role, and rated as invoices are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from django.db import connections
from django.db.models import Q

from backend.billing.currencies import payable
from backend.billing.invoiced_usage import SHOWN_WITHOUT_A_PRICE
from backend.billing.models import PlanVersion, Price, PriceBook
from backend.billing.rates import PRICE, Key, Rate, Rates, money
from backend.billing.rating import Allowance, Terms, UsageTotal, rate_period, total_of
from backend.billing.services.plans import NewPlanVersion
from backend.billing.terms import in_force, tiers_of
from backend.tenancy.models import FIRST_PLAN

CONSOLE = "console"


@dataclass(frozen=True, slots=True)
class Amount:
    """A total of a month in a currency."""

    currency: str
    total: Decimal


@dataclass(frozen=True, slots=True)
class TenantPreviewed:
    """A tenant's month before taxes, credit and coupons: by list prices, by its present terms, and by the new ones."""

    tenant_id: UUID
    listed: Amount
    present: Amount
    previewed: Amount

    @property
    def difference(self) -> Decimal | None:
        """The amount by which the new terms cost more; None between two currencies."""
        if self.present.currency != self.previewed.currency:
            return None
        return self.previewed.total - self.present.total


@dataclass(frozen=True, slots=True)
class PlanPreview:
    """The largest tenants of a plan by list price. subscribed: whether they are on the plan; if no tenant is on it,
    they are the largest tenants of all. tenants_on_plan: number of tenants on the plan."""

    lines: Sequence[TenantPreviewed]
    subscribed: bool
    tenants_on_plan: int


@dataclass(frozen=True, slots=True)
class _Used:
    meter: str
    model: str
    variant: str
    price_id: UUID
    price_version: int
    unit_amount: Decimal
    book_id: UUID
    quantity: Decimal
    price: Decimal


# The version by which each tenant is billed at a moment: as backend.billing.terms.subscription_at() finds it.
_BILLED_BY = """
WITH billed AS (
    SELECT t.id AS tenant_id, coalesce(s.plan_version_id, (
        SELECT v.id FROM billing_planversion v JOIN billing_plan p ON p.id = v.plan_id WHERE p.code = %(first)s
        AND v.effective_from <= %(at)s AND (v.effective_to IS NULL OR v.effective_to > %(at)s))) AS version_id
    FROM tenancy_tenant t LEFT JOIN LATERAL (
        SELECT plan_version_id FROM billing_subscription s WHERE s.tenant_id = t.id
        AND (s.effective_to IS NULL OR s.effective_to > %(at)s) ORDER BY s.effective_from LIMIT 1) s ON true
), chosen AS (
    SELECT b.tenant_id, b.version_id FROM billed b JOIN billing_planversion v ON v.id = b.version_id
    JOIN billing_plan p ON p.id = v.plan_id WHERE %(plan)s::text IS NULL OR p.code = %(plan)s
), listed AS (
    SELECT tenant_id, sum(price) AS price FROM billing_pricedmonth WHERE month = %(month)s GROUP BY 1
)
SELECT tenant_id, version_id, count(*) OVER () FROM chosen LEFT JOIN listed USING (tenant_id)
ORDER BY coalesce(price, 0) DESC, tenant_id LIMIT %(most)s
"""
_USED = """
SELECT u.tenant_id, u.meter, u.model, u.variant, u.price_id, p.version, p.unit_amount, p.book_id,
    u.quantity, u.price
FROM billing_pricedmonth u JOIN billing_price p ON p.id = u.price_id
WHERE u.month = %(month)s AND u.tenant_id = ANY(%(tenants)s)
"""


def preview_plan(new: NewPlanVersion, *, month: date, at: datetime, most: int) -> PlanPreview:
    """Return what a month would have cost the largest tenants on a plan with a version that is not appended yet.

    month: first day of a calendar month (UTC). at: the moment at which tenants are on the plan. most: number of
    tenants. Usage that a price of the version's book, or of the tenant's own book, valued keeps its amounts; other
    usage has the prices in force when the version begins. A trial is left out.
    """
    found, subscribed = _billed_by(new.code, month, at, most), True
    on_plan = found[0][2] if found else 0
    if not found:
        found, subscribed = _billed_by(None, month, at, most), False
    versions = {
        version.id: version
        for version in PlanVersion.objects.using(CONSOLE)
        .filter(id__in={version_id for _, version_id, _ in found})
        .select_related("price_book")
    }
    book = PriceBook.objects.using(CONSOLE).get(code=new.price_book, tenant_id=None)
    terms = Terms(book.currency, tuple(new.allowances), tuple(new.tiers), payable(new.minimum_amount, book.currency))
    present = {version.id: _terms_of(version) for version in versions.values()}
    tenants = [tenant_id for tenant_id, _, _ in found]
    used = _used(tenants, month)
    books = {book.id: book, **{version.price_book_id: version.price_book for version in versions.values()}}
    prices = _Prices(tenants, books.values(), new.effective_from)
    lines = []
    for tenant_id, version_id, _ in found:
        now, rows = present[version_id], used.get(tenant_id, [])
        by_present = prices.valued(tenant_id, versions[version_id].price_book, rows)
        by_new = prices.valued(tenant_id, book, rows)
        lines.append(
            TenantPreviewed(
                tenant_id,
                Amount(now.currency, total_of(rate_period(by_present, Terms(now.currency)))),
                Amount(now.currency, total_of(rate_period(by_present, now))),
                Amount(terms.currency, total_of(rate_period(by_new, terms))),
            )
        )
    return PlanPreview(lines, subscribed, on_plan)


def _billed_by(plan: str | None, month: date, at: datetime, most: int) -> list[tuple[UUID, UUID, int]]:
    """Return tenants with their versions and the number of all of them. plan: code of a plan, None for all plans."""
    named = {"plan": plan, "month": month, "at": at, "most": most, "first": FIRST_PLAN}
    with connections[CONSOLE].cursor() as cursor:
        cursor.execute(_BILLED_BY, named)
        found: list[tuple[UUID, UUID, int]] = cursor.fetchall()
    return found


def _used(tenants: Sequence[UUID], month: date) -> dict[UUID, list[_Used]]:
    found: defaultdict[UUID, list[_Used]] = defaultdict(list)
    with connections[CONSOLE].cursor() as cursor:
        cursor.execute(_USED, {"month": month, "tenants": list(tenants)})
        for tenant_id, *row in cursor.fetchall():
            found[tenant_id].append(_Used(*row))
    return found


def _terms_of(version: PlanVersion) -> Terms:
    currency = version.price_book.currency
    return Terms(
        currency,
        tuple(Allowance(row.meter, row.variant, row.quantity) for row in version.allowances.all()),
        tiers_of(version),
        payable(version.minimum_amount, currency),
    )


class _Prices:
    """The prices of some books at a moment, and those of the own books of some tenants."""

    def __init__(self, tenants: Sequence[UUID], books: Iterable[PriceBook], at: datetime) -> None:
        own = PriceBook.objects.using(CONSOLE).filter(tenant_id__in=tenants)
        self._own = {(row.tenant_id, row.currency): row.id for row in own}
        self._rates: defaultdict[UUID, dict[Key, Rate]] = defaultdict(dict)
        named = Q(book_id__in={*self._own.values(), *(book.id for book in books)})
        for row in Price.objects.using(CONSOLE).filter(in_force(at), named).select_related("book"):
            key = PRICE, row.meter, row.model, row.variant
            self._rates[row.book_id][key] = Rate(row.unit_amount, row.id, row.version, row.book.currency)

    def valued(self, tenant_id: UUID, book: PriceBook, rows: Iterable[_Used]) -> list[UsageTotal]:
        """Return usage with the amounts that it has by a book, in the order and with the lines of an invoice."""
        own = self._own.get((tenant_id, book.currency))
        rates = Rates(self._rates[book.id], {} if own is None else self._rates[own], book.currency)
        totals: dict[tuple[str, str, int, UUID], UsageTotal] = {}
        for row in rows:
            if row.book_id in (book.id, own):
                price = Rate(row.unit_amount, row.price_id, row.price_version, book.currency)
                worth = row.price
            else:
                price = rates.rate(PRICE, row.meter, row.model, row.variant)
                worth = money(price.unit_amount * row.quantity)
            if price.price_id is None:
                continue
            key = row.meter, row.variant, price.version, price.price_id
            before = totals.get(key)
            totals[key] = UsageTotal(
                row.meter, row.variant, price.price_id, price.unit_amount,
                row.quantity + (before.quantity if before else 0), worth + (before.amount if before else 0),
            )  # fmt: skip
        return [
            total
            for _, total in sorted(totals.items())
            if total.amount or (total.quantity and total.meter in SHOWN_WITHOUT_A_PRICE)
        ]
