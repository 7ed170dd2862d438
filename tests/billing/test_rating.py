"""Lines of a bill: hand-computed cases, and random histories against a recomputation unit by unit."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.billing.currencies import UnknownCurrency, payable
from backend.billing.rating import Allowance, Terms, Tier, UsageTotal, rate_period, tiered_amount, total_of

D = Decimal
FIRST, SECOND = UUID(int=1), UUID(int=2)
GRADUATED = (
    Tier("questions", "", "graduated", D(0), D("0.02")),
    Tier("questions", "", "graduated", D(100), D("0.01")),
    Tier("questions", "", "graduated", D(1000), D("0.005")),
)


def used(quantity: int, *, unit: str = "0.02", variant: str = "", price: UUID = FIRST) -> UsageTotal:
    return UsageTotal("questions", variant, price, D(unit), D(quantity), D(unit) * quantity)


def lines(usage: list[UsageTotal], terms: Terms) -> list[tuple[str, Decimal, Decimal]]:
    return [(line.kind, line.quantity, line.amount) for line in rate_period(usage, terms)]


def test_list_prices_without_terms() -> None:
    assert lines([used(7)], Terms("USD")) == [("usage", D(7), D("0.14"))]
    assert lines([], Terms("USD")) == []


def test_an_allowance_covers_the_first_units_and_no_more() -> None:
    usage = [used(60), used(60, unit="0.03", price=SECOND)]
    assert lines(usage, Terms("USD", (Allowance("questions", "", D(80)),))) == [
        ("usage", D(60), D("1.20")),
        ("usage", D(60), D("1.80")),
        ("allowance", D(-60), D("-1.20")),
        ("allowance", D(-20), D("-0.60")),
    ]


def test_usage_has_the_allowance_of_its_nearest_variant() -> None:
    allowances = (Allowance("questions", "", D(5)), Allowance("questions", "ava", D(2)))
    usage = [used(10, variant="ava:low"), used(10, variant="tree:low", price=SECOND)]
    assert lines(usage, Terms("USD", allowances))[2:] == [
        ("allowance", D(-2), D("-0.04")),
        ("allowance", D(-5), D("-0.10")),
    ]


def test_a_reversal_takes_no_more_than_was_paid() -> None:
    usage = [used(100), used(-50, price=SECOND)]
    rated = rate_period(usage, Terms("USD", (Allowance("questions", "", D(80)),)))
    assert [(line.kind, line.amount) for line in rated] == [
        ("usage", D("2.00")), ("usage", D("-1.00")), ("allowance", D("-1.00")),
    ]  # fmt: skip
    assert total_of(rated) == 0


@pytest.mark.parametrize(
    ("quantity", "graduated", "volume"),
    [(0, "0", "0"), (100, "2", "2"), (101, "2.01", "1.01"), (1500, "13.5", "7.5")],
)
def test_tiers(quantity: int, graduated: str, volume: str) -> None:
    assert tiered_amount(D(quantity), GRADUATED) == D(graduated)
    by_volume = [Tier(tier.meter, "", "volume", tier.from_quantity, tier.unit_amount) for tier in GRADUATED]
    assert tiered_amount(D(quantity), by_volume) == D(volume)


def test_tiers_count_after_the_allowance_and_replace_the_list_price() -> None:
    terms = Terms("USD", (Allowance("questions", "", D(50)),), GRADUATED)
    rated = rate_period([used(200)], terms)
    # 150 units are left: 100 at 0.02 and 50 at 0.01.
    assert [(line.kind, line.amount) for line in rated] == [
        ("usage", D("4.00")), ("allowance", D("-1.00")), ("tier", D("-0.50")),
    ]  # fmt: skip
    assert total_of(rated) == D("2.50")


def test_tiers_of_two_modes_or_without_a_first_tier_are_an_error() -> None:
    with pytest.raises(ValueError, match="one mode"):
        tiered_amount(D(1), [GRADUATED[0], Tier("questions", "", "volume", D(5), D(1))])
    with pytest.raises(ValueError, match="begins at 0"):
        tiered_amount(D(1), GRADUATED[1:])


def test_a_minimum_adds_what_is_missing() -> None:
    assert lines([used(7)], Terms("USD", minimum=D(10)))[1:] == [("minimum", D(1), D("9.86"))]
    assert lines([used(700)], Terms("USD", minimum=D(10))) == [("usage", D(700), D("14.00"))]
    # A reversal of an earlier month is given back in full.
    assert total_of(rate_period([used(-7)], Terms("USD", minimum=D(10)))) == D("9.86")


def test_a_trial_is_free() -> None:
    terms = Terms("USD", (Allowance("questions", "", D(5)),), GRADUATED, minimum=D(10), trial=True)
    rated = rate_period([used(7)], terms)
    assert [(line.kind, line.amount) for line in rated] == [("usage", D("0.14")), ("trial", D("-0.14"))]


def test_each_currency_has_its_minor_unit() -> None:
    assert [payable(D("2.5"), code) for code in ("JPY", "EUR", "KWD")] == [D("2"), D("2.50"), D("2.500")]
    assert [payable(D("3.5"), "JPY"), payable(D("0.125"), "USD"), payable(D("0.135"), "USD")] == [
        D(4),
        D("0.12"),
        D("0.14"),
    ]
    with pytest.raises(UnknownCurrency, match="'XXX'"):
        payable(D(1), "XXX")


PLACES = {"USD": D("0.01"), "EUR": D("0.01"), "JPY": D(1)}
VARIANTS = ("", "ava", ":low", "ava:low", "tree:high")
amounts = st.decimals(min_value=0, max_value=3, places=6)
# One entry of a history: variant, price, units, whether a retry books the same work twice, and its reversal.
entries = st.tuples(
    st.sampled_from(VARIANTS), st.integers(0, 1), st.integers(1, 12), st.booleans(),
    st.sampled_from(["kept", "now", "late"]),
)  # fmt: skip


@st.composite
def periods(draw: st.DrawFn) -> tuple[list[tuple[str, int, int]], dict[tuple[str, int], Decimal], Terms]:
    """A period's deduplicated ledger as (variant, price, units), the unit amounts, and terms."""
    prices = {(variant, n): draw(amounts) for variant in VARIANTS for n in (0, 1)}
    ledger: dict[str, tuple[str, int, int]] = {}
    for n, (variant, price, units, retried, fate) in enumerate(draw(st.lists(entries, max_size=15))):
        # A retry after a crash books the same source again, which changes nothing.
        for _ in range(2 if retried else 1):
            ledger.setdefault(f"work:{n}", (variant, price, units))
        if fate == "now":
            ledger[f"reversal:{n}"] = (variant, price, -units)
        if fate == "late":
            # The work lies in the period before; only its reversal is in this one.
            ledger[f"work:{n}"] = (variant, price, -units)
    named = draw(st.sets(st.sampled_from(VARIANTS)))
    allowances = tuple(Allowance("questions", name, D(draw(st.integers(0, 40)))) for name in sorted(named))
    tiers: list[Tier] = []
    # Tiers name variants that have an allowance, so that a unit belongs to one group in both.
    for name in sorted(named) if draw(st.booleans()) else []:
        mode = draw(st.sampled_from(["graduated", "volume"]))
        starts = [0, *sorted(draw(st.sets(st.integers(1, 60), max_size=3)))]
        tiers += [Tier("questions", name, mode, D(start), draw(amounts)) for start in starts]
    currency = draw(st.sampled_from(sorted(PLACES)))
    return list(ledger.values()), prices, Terms(currency, allowances, tuple(tiers), D(draw(st.integers(0, 20))))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(periods())
def test_a_bill_is_what_counting_unit_by_unit_gives(
    period: tuple[list[tuple[str, int, int]], dict[tuple[str, int], Decimal], Terms],
) -> None:
    ledger, prices, terms = period
    sums: dict[tuple[str, int], int] = {}
    for variant, price, units in ledger:
        sums[variant, price] = sums.get((variant, price), 0) + units
    usage = [
        UsageTotal(
            "questions", variant, UUID(int=price), prices[variant, price], D(units), prices[variant, price] * units
        )
        for (variant, price), units in sums.items()
    ]

    rated = rate_period(usage, terms)

    assert sum(line.exact for line in rated if line.kind == "usage") == sum(
        (prices[variant, price] * units for variant, price, units in ledger), D(0)
    )
    assert total_of(rated) == naive_total(sums, prices, terms)
    assert all(line.amount == line.amount.quantize(PLACES[terms.currency]) for line in rated)


def naive_total(sums: dict[tuple[str, int], int], prices: dict[tuple[str, int], Decimal], terms: Terms) -> Decimal:
    """Count a bill unit by unit: each unit is free, at a tier's amount, or at its list price."""

    def cents(amount: Decimal) -> Decimal:
        return amount.quantize(PLACES[terms.currency], rounding=ROUND_HALF_EVEN)

    allowances = {allowance.variant: int(allowance.quantity) for allowance in terms.allowances}
    ladders: dict[str, list[Tier]] = {}
    for tier in terms.tiers:
        ladders.setdefault(tier.variant, []).append(tier)
    grouped: dict[str | None, dict[tuple[str, int], int]] = {}
    for key, units in sums.items():
        first, *second = key[0].split(":")
        chain = [key[0], first, ":".join(["", *second]), ""]
        group = next((name for name in chain if name in allowances), None)
        grouped.setdefault(group, {})[key] = units
    total = D(0)
    for group, members in grouped.items():
        net = sum(members.values())
        free = min(max(net, 0), allowances.get(group, 0)) if group is not None else 0
        listed = D(0)
        for key, units in members.items():
            taken = 0
            while taken < units and free:
                taken, free = taken + 1, free - 1
            listed += cents(prices[key] * units) - cents(prices[key] * taken)
        paid_units = net - (min(max(net, 0), allowances[group]) if group is not None else 0)
        ladder = ladders.get(group, []) if group is not None else []
        if ladder and paid_units > 0:
            amount = D(0)
            for unit in range(paid_units):
                counted = paid_units - 1 if ladder[0].mode == "volume" else unit
                amount += [tier for tier in ladder if tier.from_quantity <= counted][-1].unit_amount
            listed = cents(amount)
        total += listed
    return max(total, D(0)) + max(terms.minimum - max(total, D(0)), D(0)) if total >= 0 else total + terms.minimum
