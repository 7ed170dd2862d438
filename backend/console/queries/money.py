"""Reads of the money of all tenants, out of the sums of their days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from backend.billing.rates import LEDGER_CURRENCY
from backend.console.queries.role import rows

SUMS = (
    "cost", "price", "compared_cost", "wasted", "media_seconds", "questions", "searches", "tokens_in", "tokens_out",
    "device_seconds",
)  # fmt: skip
_READ = [name for name in SUMS if name != "compared_cost"]
_SUMMED = ", ".join(f"coalesce(sum({name}), 0) AS {name}" for name in _READ)
_ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums of usage. cost, wasted: USD; wasted is the part of cost that nobody is charged for. price: list prices in
    one currency, or in several where the sums are those of a day, a stage or a tenant; then prices in other currencies
    than USD are left out. compared_cost: cost of the usage that is priced in USD. tokens_in: fresh and cached."""

    cost: Decimal = _ZERO
    price: Decimal = _ZERO
    compared_cost: Decimal = _ZERO
    wasted: Decimal = _ZERO
    media_seconds: Decimal = _ZERO
    questions: Decimal = _ZERO
    searches: Decimal = _ZERO
    tokens_in: Decimal = _ZERO
    tokens_out: Decimal = _ZERO
    device_seconds: Decimal = _ZERO

    def __add__(self, other: Sums) -> Sums:
        return Sums(**{name: getattr(self, name) + getattr(other, name) for name in SUMS})

    @property
    def margin(self) -> Decimal | None:
        """Return what usage priced in USD earned above its cost; None if all usage is priced in other currencies."""
        if self.cost and not self.compared_cost and not self.price:
            return None
        return self.price - self.compared_cost

    @property
    def margin_percent(self) -> float | None:
        return None if self.margin is None or not self.price else float(100 * self.margin / self.price)


def uncounted_since() -> datetime | None:
    """Return the begin of the first hour (UTC) whose sums still miss usage; None if the sums hold all of it."""
    since: datetime | None = rows("SELECT min(hour) AS since FROM billing_stalehour")[0]["since"]
    return since


@dataclass(frozen=True, slots=True)
class Spending:
    """The money of a span. by_currency: sums of the usage that is priced in each currency. prices: list prices of the
    tenants, by currency."""

    total: Sums = Sums()
    by_currency: dict[str, Sums] = field(default_factory=dict)
    by_day: dict[date, Sums] = field(default_factory=dict)
    by_stage: dict[tuple[str, str], Sums] = field(default_factory=dict)
    by_tenant: dict[UUID, Sums] = field(default_factory=dict)
    prices: dict[tuple[UUID, str], Decimal] = field(default_factory=dict)

    def prices_of(self, tenant_id: UUID) -> list[tuple[str, Decimal]]:
        """Return the list prices of a tenant's usage by currency, without currencies in which it used nothing."""
        return sorted((code, price) for (owner, code), price in self.prices.items() if owner == tenant_id and price)

    @property
    def other_currencies(self) -> list[tuple[str, Sums]]:
        return sorted((code, sums) for code, sums in self.by_currency.items() if code != LEDGER_CURRENCY and sums.price)


_USD = ", ".join(
    f"coalesce(sum({name}) FILTER (WHERE price_currency = %(currency)s), 0) AS {shown}"
    for name, shown in (("price", "usd"), ("cost", "compared_cost"))
)
_OF_TENANT = "SELECT * FROM billing_usageday WHERE tenant_id = %(tenant)s AND day BETWEEN %(first)s AND %(last)s"
_COLUMNS = f"day, stage, model, price_currency, {', '.join(_READ)}"
# Days whose sums over all tenants are out of date are read out of the tenants' days.
_OF_ALL = f"""
SELECT {_COLUMNS} FROM billing_daytotal WHERE day BETWEEN %(first)s AND %(last)s
AND NOT EXISTS (SELECT FROM billing_staleday stale WHERE stale.day = billing_daytotal.day)
UNION ALL SELECT {_COLUMNS} FROM billing_usageday WHERE day = ANY(ARRAY(
    SELECT DISTINCT day FROM billing_staleday WHERE day BETWEEN %(first)s AND %(last)s))
"""  # noqa: S608 - names of columns
_GROUPED = f"""
SELECT grouping(day, stage, price_currency) AS kept, day, stage, model, price_currency, {_SUMMED}, {_USD}
FROM ({{days}}) d GROUP BY GROUPING SETS ((), (day), (stage, model), (price_currency))
"""  # noqa: S608 - names of columns
# The largest read of the overview: only what its table shows, and added up once.
_BY_TENANT = """
SELECT tenant_id, price_currency, sum(cost) AS cost, sum(price) AS price, sum(media_seconds) AS media_seconds,
    sum(questions) AS questions
FROM billing_tenantday WHERE day BETWEEN %(first)s AND %(last)s GROUP BY tenant_id, price_currency
"""


def spending(first: date, last: date, *, tenant_id: UUID | None = None) -> Spending:
    """Return the money of the days first to last (UTC), of all tenants or of one.

    by_tenant and prices are those of all tenants; of one tenant they are empty. by_tenant has cost, price, media
    seconds and questions alone.
    """
    found = Spending()
    values = {"first": first, "last": last, "tenant": tenant_id, "currency": LEDGER_CURRENCY}
    total = Sums()
    for row in rows(_GROUPED.format(days=_OF_TENANT if tenant_id else _OF_ALL), values):
        sums = _sums(row)
        match row["kept"]:
            case 0b011:
                found.by_day[row["day"]] = sums
            case 0b101:
                found.by_stage[row["stage"], row["model"]] = sums
            case 0b110:
                found.by_currency[row["price_currency"]] = _sums(row, price="price")
            case _:
                total = sums
    for row in () if tenant_id else rows(_BY_TENANT, values):
        owner, code = row["tenant_id"], row["price_currency"]
        in_usd = code == LEDGER_CURRENCY
        sums = Sums(
            cost=row["cost"], price=row["price"] if in_usd else _ZERO, compared_cost=row["cost"] if in_usd else _ZERO,
            media_seconds=row["media_seconds"], questions=row["questions"],
        )  # fmt: skip
        found.by_tenant[owner] = found.by_tenant[owner] + sums if owner in found.by_tenant else sums
        found.prices[owner, code] = row["price"]
    return Spending(total, found.by_currency, found.by_day, found.by_stage, found.by_tenant, found.prices)


def _sums(row: dict[str, Any], *, price: str = "usd") -> Sums:
    return Sums(**{name: row[name] for name in SUMS if name != "price"}, price=row[price])


@dataclass(frozen=True, slots=True)
class Machines:
    """The paid device time of a span. percent: the part of it that was attributed to work, None without paid time.
    overhead: USD of paid time that was attributed to nothing. lost: the part of it that attempts of killed processes
    can have used at the most. lost_attempts: their number."""

    percent: float | None
    overhead: Decimal
    usd_per_video_hour: Decimal | None
    usd_per_question: Decimal | None
    lost: Decimal = Decimal(0)
    lost_attempts: int = 0


def machines(first: date, last: date) -> Machines | None:
    """Return the reconciled days first to last together; None if none of them is reconciled yet.

    The amounts per hour of video and per question are those of the latest reconciled day that has one.
    """
    row = rows(
        "SELECT count(*) AS days, coalesce(sum(paid_seconds), 0) AS paid, "
        "coalesce(sum(attributed_seconds), 0) AS attributed, coalesce(sum(overhead_usd), 0) AS overhead, "
        "coalesce(sum(lost_usd), 0) AS lost, coalesce(sum(lost_attempts), 0) AS lost_attempts, "
        "(array_agg(usd_per_video_hour ORDER BY day DESC) FILTER (WHERE usd_per_video_hour IS NOT NULL))[1] AS hour, "
        "(array_agg(usd_per_question ORDER BY day DESC) FILTER (WHERE usd_per_question IS NOT NULL))[1] AS question "
        "FROM billing_costday WHERE day BETWEEN %(first)s AND %(last)s",
        {"first": first, "last": last},
    )[0]
    if not row["days"]:
        return None
    percent = float(100 * row["attributed"] / row["paid"]) if row["paid"] else None
    return Machines(percent, row["overhead"], row["hour"], row["question"], row["lost"], row["lost_attempts"])


def names_of(tenant_ids: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
    """Return name, plan and suspension of tenants, by id."""
    found = rows(
        "SELECT id, name, plan, suspended_at FROM tenancy_tenant WHERE id = ANY(%(ids)s)", {"ids": list(tenant_ids)}
    )
    return {row["id"]: row for row in found}
