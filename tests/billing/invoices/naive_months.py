"""The naive recomputation of closed months: it counts in fractions, from what was drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from uuid import UUID

from tests.billing.invoices.drawn_months import DAY, MONTHS, PLACES, History, Ladder, Work, bounds, moment

Key = tuple[str, str, str, UUID | None]
"""Kind, meter, variant and price of a line."""
Amounts = tuple[Fraction, Fraction, Fraction]
"""Quantity, exact amount and amount."""
Priced = tuple[str, str, int, str]
"""Meter, variant of the work, version of the price, and the variant by which the book has the price."""
ShownDiscount = tuple[int, int, bool, Fraction]
"""Month, number of the coupon, whether it is late, and the amount."""
NOTHING: Amounts = (Fraction(0), Fraction(0), Fraction(0))
ShownLine = tuple[str, str, str, UUID | None, bool, Fraction, Fraction, Fraction]
"""Kind, meter, variant, price, whether it is late; quantity, exact amount, amount."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A document: its lines of usage in any order, its discounts, and its amounts."""

    currency: str
    lines: frozenset[tuple[int, ShownLine]]
    discounts: frozenset[ShownDiscount]
    subtotal: Fraction
    tax: Fraction
    total: Fraction
    credited: Fraction


class Naive:
    """The same history, counted in fractions from what was drawn."""

    def __init__(self, history: History, ids: dict[tuple[str, str, int], UUID]) -> None:
        self.history, self.deal, self.ids = history, history.deal, ids
        self.taken_off: dict[int, list[Fraction]] = {month: [] for month in range(MONTHS)}
        self.billed: dict[int, dict[Key, Amounts]] = {month: {} for month in range(MONTHS)}
        self.credit = [Fraction(amount) for currency, amount in history.grants if currency == history.deal.currency]

    def cents(self, amount: Fraction) -> Fraction:
        return rounded(amount, PLACES[self.deal.currency])

    def close(self, closing: int) -> Shown | None:
        """Return the document of a month, None if it has no line."""
        lines: list[tuple[int, ShownLine]] = []
        off: list[ShownDiscount] = []
        for month in range(closing + 1):
            wanted, known = self.month(month, closing), self.billed[month]
            for key in wanted.keys() | known.keys():
                now, before = wanted.get(key, NOTHING), known.get(key, NOTHING)
                change = (now[0] - before[0], now[1] - before[1], now[2] - before[2])
                if change != NOTHING:
                    lines.append((month, (*key, month < closing, *change)))
            self.billed[month] = wanted
            before_coupons = self.taken_off[month] or [Fraction(0)] * len(self.history.discounts)
            self.taken_off[month] = self.discounts(month, sum((one[2] for one in wanted.values()), Fraction(0)))
            changes = [now - old for now, old in zip(self.taken_off[month], before_coupons, strict=True)]
            off += [(month, n, month < closing, change) for n, change in enumerate(changes) if change]
        if not lines:
            return None
        assert len(set(lines)) == len(lines)
        subtotal = sum((line[-1] for _, line in lines), Fraction(0))
        net = subtotal + sum((change for *_, change in off), Fraction(0))
        tax = self.cents(net * Fraction(self.history.tax))
        credited = self.paid_by_credit(net + tax)
        return Shown(self.deal.currency, frozenset(lines), frozenset(off), subtotal, tax, net + tax, credited)

    def discounts(self, month: int, subtotal: Fraction) -> list[Fraction]:
        """Return what each coupon takes off all usage of a month, zero or negative."""
        left, found = subtotal, []
        for one in self.history.discounts:
            if month >= one.months or (one.amount is not None and one.currency != self.deal.currency):
                found.append(Fraction(0))
                continue
            wanted = Fraction(one.amount) if one.amount is not None else self.cents(left * Fraction(one.percent) / 100)
            off = max(Fraction(0), min(wanted, left))
            found.append(-off)
            left -= off
        return found

    def paid_by_credit(self, total: Fraction) -> Fraction:
        if total < 0:
            self.credit.append(-total)
            return total
        paid = min(total, sum(self.credit, Fraction(0)))
        self.credit = [sum(self.credit, Fraction(0)) - paid]
        return paid

    def month(self, month: int, closing: int) -> dict[Key, Amounts]:
        """Return the lines of a month by what is booked before a closing, as if it were invoiced at once."""
        start, end = bounds(self.deal.zone, month)
        deal, moved = self.history.deal, self.history.moved
        if moved is not None and month >= moved.month:
            deal = replace(deal, allowances=moved.allowances, ladders={}, minimum=moved.minimum, trial=0)
        self.deal = deal
        trial_until = bounds(deal.zone, 0)[0] + timedelta(days=deal.trial)
        cut = min(max(start, trial_until), end)
        lines: dict[Key, Amounts] = {}
        for begin, until in ((start, cut), (cut, end)):
            if begin == until:
                continue
            share = Fraction((until - begin) // timedelta(microseconds=1), (end - start) // timedelta(microseconds=1))
            for key, one in self.span(self.used(begin, until, closing), share, trial=until <= trial_until):
                before = lines.get(key, NOTHING)
                lines[key] = (before[0] + one[0], before[1] + one[1], before[2] + one[2])
        return {key: one for key, one in lines.items() if one != NOTHING}

    def used(self, begin: datetime, until: datetime, closing: int) -> dict[Priced, tuple[Fraction, Fraction]]:
        """Return quantity and amount by price of what occurred in a span and is booked before a closing."""
        sums: dict[Priced, tuple[Fraction, Fraction]] = {}
        for work in self.history.work:
            at = moment(self.deal.zone, work.month, work.at)
            priced = self.price(work, at)
            amount = rounded(Fraction(work.quantity) * self.unit(priced), 10)
            entries = [(at, work.booked, Fraction(work.quantity), amount)]
            if work.taken_back is not None:
                when = at if work.own_time else moment(self.deal.zone, work.taken_back, work.at)
                entries.append((when, work.taken_back, -Fraction(work.quantity), -amount))
            for when, known, quantity, worth in entries:
                if begin <= when < until and known <= closing and not work.free:
                    before = sums.get(priced, (Fraction(0), Fraction(0)))
                    sums[priced] = (before[0] + quantity, before[1] + worth)
        return {key: sums[key] for key in sorted(sums) if sums[key] != (0, 0)}

    def price(self, work: Work, at: datetime) -> Priced:
        version = 1 if at < moment(self.deal.zone, 0, 10 * DAY) else 2
        named = nearest(work.variant, {variant for meter, variant in self.deal.units if meter == work.meter})
        return work.meter, work.variant, version, str(named)

    def unit(self, priced: Priced) -> Fraction:
        meter, _, version, named = priced
        return Fraction(self.deal.units[meter, named][version - 1])

    def span(
        self, used: dict[Priced, tuple[Fraction, Fraction]], share: Fraction, *, trial: bool
    ) -> list[tuple[Key, Amounts]]:
        """Return the lines of a span of one month under the same terms. share: of the month."""
        lines: list[tuple[Key, Amounts]] = []
        for (meter, variant, version, named), (quantity, amount) in used.items():
            id = self.ids[meter, named, version]
            lines.append((("usage", meter, variant, id), (quantity, amount, self.cents(amount))))
            if trial:
                lines.append((("trial", meter, variant, id), (-quantity, -amount, -self.cents(amount))))
        if trial:
            return lines
        lines += self.grouped(used, share)
        total = max(sum((amounts[2] for _, amounts in lines), Fraction(0)), Fraction(0))
        missing = self.cents(self.deal.minimum * share) - total
        if missing > 0:
            lines.append((("minimum", "", "", None), (Fraction(1), missing, missing)))
        return lines

    def grouped(self, used: dict[Priced, tuple[Fraction, Fraction]], share: Fraction) -> list[tuple[Key, Amounts]]:
        """Return what is included and what tiers change, group by group."""
        lines: list[tuple[Key, Amounts]] = []
        for group, allowed in self.deal.allowances.items():
            names = {variant for meter, variant in self.deal.allowances if meter == group[0]}
            members = {
                key: one for key, one in used.items() if key[0] == group[0] and nearest(key[1], names) == group[1]
            }
            net = sum((quantity for quantity, _ in members.values()), Fraction(0))
            free = left = min(rounded(Fraction(allowed) * share, 6), max(net, Fraction(0)))
            listed = shown = Fraction(0)
            for key, (quantity, amount) in members.items():
                part = min(left, max(quantity, Fraction(0)))
                left -= part
                worth = amount if part == quantity else rounded(part * self.unit(key), 10)
                listed += amount - worth
                shown += self.cents(amount) - self.cents(worth)
                if part:
                    id = self.ids[key[0], key[3], key[2]]
                    lines.append((("allowance", key[0], key[1], id), (-part, -worth, -self.cents(worth))))
            ladder = self.deal.ladders.get(group)
            if ladder is not None and net > free:
                amount = rounded(climbed(ladder, net - free), 10)
                change = (amount - listed, self.cents(amount) - shown)
                if change != (0, 0):
                    lines.append((("tier", *group, None), (net - free, *change)))
        return lines


def nearest(variant: str, names: set[str]) -> str | None:
    """Return the nearest name of a variant, None if there is none."""
    first, *rest = variant.split(":")
    return next((near for near in (variant, first, ":".join(["", *rest]), "") if near in names), None)


def climbed(ladder: Ladder, quantity: Fraction) -> Fraction:
    """Return what a quantity above zero costs by tiers."""
    if ladder.volume:
        return quantity * Fraction([step.unit for step in ladder.steps if step.start < quantity][-1])
    ends = [*(Fraction(step.start) for step in ladder.steps[1:]), quantity]
    return sum(
        (
            max(Fraction(0), min(end, quantity) - Fraction(step.start)) * Fraction(step.unit)
            for step, end in zip(ladder.steps, ends, strict=True)
        ),
        Fraction(0),
    )


def rounded(amount: Fraction, places: int) -> Fraction:
    """Round half to even, as Python rounds a fraction."""
    return Fraction(round(amount * 10**places), 10**places)
