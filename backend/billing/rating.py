"""Lines of a bill: what a tenant used in one span, under the terms of its plan.

The amounts of the ledger are list prices: unit amount times quantity, at the price in force when the work was done.
The terms turn them into what is paid, line by line. Usage is grouped by the meter and the variant that an allowance or
a tier names; a variant without a row of its own belongs to the nearest row: "ava:low", else "ava", else ":low",
else "".

1. One `usage` line for each price that applied.
2. One `allowance` line for each usage line that the allowance covers, fully or in part, in the order of the usage.
   No more than the group's net quantity is covered, so that a reversal never earns money.
3. One `tier` line for each group with tiers: the units after the allowance cost the amounts of the tiers instead of
   the list prices. Graduated: each unit costs the amount of the tier in which it falls. Volume: all units cost the
   amount of the last tier that they reach. A group whose net quantity is not positive keeps its list prices.
4. In a trial, a `trial` line takes back each usage line, and no other terms apply.
5. A `minimum` line adds the amount that is missing to the minimum.

The exact amount of a line has the ledger's ten digits, as it is stored: a line that is rated again later differs by
nothing. Each line is rounded half to even to the currency's minor unit, and the total is the sum of the rounded lines.
A tier line makes its group's rounded lines add up to the group's rounded amount.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal
from uuid import UUID

from backend.billing.currencies import payable
from backend.billing.rates import money, variants_of

Kind = Literal["usage", "allowance", "tier", "trial", "minimum"]
Mode = Literal["graduated", "volume"]
ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """Usage that one price valued. quantity and amount: sums of the ledger's rows; both may be negative."""

    meter: str
    variant: str
    price_id: UUID | None
    unit_amount: Decimal
    quantity: Decimal
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Allowance:
    """Units that the span includes."""

    meter: str
    variant: str
    quantity: Decimal


@dataclass(frozen=True, slots=True)
class Tier:
    """The amount of a unit after from_quantity units, counted after the allowance."""

    meter: str
    variant: str
    mode: Mode
    from_quantity: Decimal
    unit_amount: Decimal


@dataclass(frozen=True, slots=True)
class Terms:
    """What a plan grants and demands in one span. minimum: in the currency, for the whole span."""

    currency: str
    allowances: tuple[Allowance, ...] = ()
    tiers: tuple[Tier, ...] = ()
    minimum: Decimal = ZERO
    trial: bool = False


@dataclass(frozen=True, slots=True)
class RatedLine:
    """One line of a bill. amount: in the currency's minor unit. exact: the amount before it was rounded."""

    kind: Kind
    meter: str
    variant: str
    price_id: UUID | None
    quantity: Decimal
    amount: Decimal
    exact: Decimal


def rate_period(usage: Sequence[UsageTotal], terms: Terms) -> list[RatedLine]:
    """Return the lines of a bill for the usage of one span, in the order of the usage within each step.

    usage: amounts in the terms' currency. The sum of `exact` over the usage lines is the sum of the amounts, to the
    last digit. Raises UnknownCurrency, and ValueError if the tiers of a group differ in their mode or none begins at 0.
    """
    lines = [_line("usage", total, total.quantity, total.amount, terms.currency) for total in usage]
    if terms.trial:
        return lines + [_line("trial", total, -total.quantity, -total.amount, terms.currency) for total in usage]
    covered = _covered(usage, terms.allowances)
    lines += [
        _line("allowance", total, -quantity, -_value(total, quantity), terms.currency)
        for total, quantity in zip(usage, covered, strict=True)
        if quantity
    ]
    lines += _tier_lines(usage, covered, terms)
    missing = terms.minimum - max(ZERO, total_of(lines))
    if missing > 0:
        lines.append(RatedLine("minimum", "", "", None, Decimal(1), payable(missing, terms.currency), missing))
    return lines


def total_of(lines: Sequence[RatedLine]) -> Decimal:
    """Return the sum of the rounded lines."""
    return sum((line.amount for line in lines), ZERO)


def tiered_amount(quantity: Decimal, tiers: Sequence[Tier]) -> Decimal:
    """Return what a quantity costs by tiers of one group. Raises ValueError, see rate_period()."""
    ladder = sorted(tiers, key=lambda tier: tier.from_quantity)
    if len({tier.mode for tier in ladder}) != 1 or ladder[0].from_quantity != 0:
        raise ValueError("the tiers of a meter have one mode, and the first tier begins at 0")
    reached = [tier for tier in ladder if tier.from_quantity < quantity]
    if ladder[0].mode == "volume":
        return quantity * (reached[-1].unit_amount if reached else ZERO)
    amount = ZERO
    for n, tier in enumerate(reached):
        end = reached[n + 1].from_quantity if n + 1 < len(reached) else quantity
        amount += (end - tier.from_quantity) * tier.unit_amount
    return amount


def use_of_allowances(usage: Sequence[UsageTotal], allowances: Sequence[Allowance]) -> list[tuple[Allowance, Decimal]]:
    """Return the allowances in their order, each with the units of the usage that count against it."""
    included = {(allowance.meter, allowance.variant) for allowance in allowances}
    used: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for total, group in zip(usage, _groups(usage, included), strict=True):
        if group is not None:
            used[group] += total.quantity
    return [(allowance, used[allowance.meter, allowance.variant]) for allowance in allowances]


def _covered(usage: Sequence[UsageTotal], allowances: Sequence[Allowance]) -> list[Decimal]:
    """Return the quantity of each total that an allowance covers."""
    included = {(allowance.meter, allowance.variant): allowance.quantity for allowance in allowances}
    groups = _groups(usage, included)
    net: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for total, group in zip(usage, groups, strict=True):
        if group is not None:
            net[group] += total.quantity
    left = {group: min(included[group], max(ZERO, net[group])) for group in net}
    covered = []
    for total, group in zip(usage, groups, strict=True):
        quantity = ZERO if group is None else min(left[group], max(ZERO, total.quantity))
        if group is not None:
            left[group] -= quantity
        covered.append(quantity)
    return covered


def _tier_lines(usage: Sequence[UsageTotal], covered: Sequence[Decimal], terms: Terms) -> list[RatedLine]:
    ladders: defaultdict[tuple[str, str], list[Tier]] = defaultdict(list)
    for tier in terms.tiers:
        ladders[tier.meter, tier.variant].append(tier)
    groups = _groups(usage, ladders)
    lines = []
    for group, ladder in ladders.items():
        quantity = listed = paid = ZERO
        for total, part, own in zip(usage, covered, groups, strict=True):
            if own == group:
                taken = _value(total, part)
                quantity += total.quantity - part
                listed += total.amount - taken
                paid += payable(total.amount, terms.currency) - payable(taken, terms.currency)
        # A net reversal gives the list prices back.
        if quantity <= 0:
            continue
        amount = money(tiered_amount(quantity, ladder))
        rounded = payable(amount, terms.currency) - paid
        if amount != listed or rounded:
            lines.append(RatedLine("tier", *group, None, quantity, rounded, amount - listed))
    return lines


def _groups(usage: Sequence[UsageTotal], known: Container[tuple[str, str]]) -> list[tuple[str, str] | None]:
    """Return the group of each total: its meter with the nearest variant that is known, None if there is none."""
    return [
        next(
            ((total.meter, near) for near in variants_of(total.variant) if (total.meter, near) in known),
            None,
        )
        for total in usage
    ]


def _value(total: UsageTotal, quantity: Decimal) -> Decimal:
    """Return the list price of a part of a total; of the whole total, the ledger's very amount."""
    return total.amount if quantity == total.quantity else money(quantity * total.unit_amount)


def _line(kind: Kind, total: UsageTotal, quantity: Decimal, exact: Decimal, currency: str) -> RatedLine:
    return RatedLine(kind, total.meter, total.variant, total.price_id, quantity, payable(exact, currency), exact)
