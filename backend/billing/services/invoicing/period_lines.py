"""The lines of a period: what its usage comes to, less what has been invoiced for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from backend.billing.invoiced_usage import Billed, LedgerSum, LineKey, invoiced, ledger_sums
from backend.billing.models import BillingPeriod, Price
from backend.billing.rating import RatedLine, Terms, UsageTotal, rate_period
from backend.billing.terms import spans_of


@dataclass(frozen=True, slots=True)
class PriceRow:
    """The price behind a line."""

    version: int | None = None
    unit_amount: Decimal | None = None


@dataclass(frozen=True, slots=True)
class PeriodLines:
    """Lines by currency, in the order in which they are printed, and the prices behind them."""

    lines: Mapping[str, Mapping[LineKey, Billed]]
    prices: Mapping[UUID, PriceRow]


def lines_of_period(period: BillingPeriod) -> PeriodLines:
    """Return what the usage of a period comes to under the terms of its spans, less what other documents invoiced.

    Before the first invoice this is the whole period. After it, this is the difference that late and reversed usage
    makes, so all invoices together always add up to the period rated once.
    """
    wanted: dict[str, dict[LineKey, Billed]] = defaultdict(dict)
    prices: dict[UUID, PriceRow] = {}
    for span in spans_of(period.start_at, period.end_at):
        sums: dict[str, list[LedgerSum]] = defaultdict(list)
        for row in ledger_sums(span.start, span.end):
            sums[row.currency].append(row)
            if row.price_id is not None:
                prices[row.price_id] = PriceRow(row.price_version, row.unit_amount)
        sums.setdefault(span.terms.currency, [])
        for currency, rows in sums.items():
            # Usage from before a change of currency keeps its list prices.
            terms = span.terms if currency == span.terms.currency else Terms(currency)
            for line in rate_period([_total(row) for row in rows], terms):
                _add(wanted[currency], line)
    known = invoiced(period.start_at)
    for currency, lines in known.items():
        for key, billed in lines.items():
            wanted[currency][key] = wanted[currency].get(key, Billed()) - billed
    changed = {
        currency: {key: billed for key, billed in lines.items() if billed != Billed()}
        for currency, lines in wanted.items()
    }
    named = {key.price_id for lines in changed.values() for key in lines if key.price_id is not None}
    # Usage that was taken back as a whole is in no sum.
    for price in Price.objects.filter(id__in=named - prices.keys()) if named - prices.keys() else ():
        prices[price.id] = PriceRow(price.version, price.unit_amount)
    return PeriodLines(changed, prices)


def _total(row: LedgerSum) -> UsageTotal:
    return UsageTotal(row.meter, row.variant, row.price_id, row.unit_amount, row.quantity, row.amount)


def _add(lines: dict[LineKey, Billed], line: RatedLine) -> None:
    key = LineKey(line.kind, line.meter, line.variant, line.price_id)
    before = lines.get(key, Billed())
    lines[key] = Billed(before.quantity + line.quantity, before.exact + line.exact, before.amount + line.amount)
