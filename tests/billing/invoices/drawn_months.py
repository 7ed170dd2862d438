"""Histories of usage for tests that close months: plans, work, coupons, credit and tax, as hypothesis draws them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from hypothesis import strategies as st

from backend.billing.services.invoicing.periods import month_of
from tests.billing.invoices.ledger import utc

PLACES = {"USD": 2, "EUR": 2, "JPY": 0}
ZONES = ("UTC", "Asia/Tokyo", "America/New_York")
MONTHS = 3
QUESTIONS, MEDIA = "questions", "media_seconds"
VARIANTS = {QUESTIONS: ("", "ava", "ava:low", "tree:high", "tree:low"), MEDIA: ("",)}
"""Variants of the work. The book has prices of "" and of those that are drawn."""
DAY = 86_400


@dataclass(frozen=True, slots=True)
class Step:
    """A tier: the amount of a unit from a quantity on."""

    start: Decimal
    unit: Decimal


@dataclass(frozen=True, slots=True)
class Ladder:
    """Tiers of a group, the first one from 0 on."""

    volume: bool
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Deal:
    """A plan. units: of each meter and variant, before and since the price changed on the 11th of the first month.

    allowances and ladders: by meter and variant. trial: days from the begin of the first month that are free.
    """

    currency: str
    zone: str
    units: dict[tuple[str, str], tuple[Decimal, Decimal]]
    allowances: dict[tuple[str, str], Decimal]
    ladders: dict[tuple[str, str], Ladder]
    minimum: int
    trial: int


@dataclass(frozen=True, slots=True)
class Work:
    """Work of a month. at: seconds since the month began. booked: the closing before which it is booked, from 0.

    taken_back: the closing before which it is taken back, None for never. own_time: the row that takes it back lies in
    the month of the work, else in that of the closing. twice: a retry books it again. free: it is not billable.
    """

    meter: str
    variant: str
    quantity: Decimal
    month: int
    at: int
    booked: int
    taken_back: int | None
    own_time: bool
    twice: bool
    free: bool


@dataclass(frozen=True, slots=True)
class Discount:
    """A coupon: a percentage, or an amount in a currency. months: from the first one on."""

    percent: Decimal | None
    amount: Decimal | None
    currency: str
    months: int


@dataclass(frozen=True, slots=True)
class Moved:
    """Another plan of the same book, from the begin of a month on: without tiers and without a trial."""

    month: int
    allowances: dict[tuple[str, str], Decimal]
    minimum: int


@dataclass(frozen=True, slots=True)
class History:
    deal: Deal
    work: tuple[Work, ...]
    tax: Decimal
    discounts: tuple[Discount, ...]
    grants: tuple[tuple[str, int], ...]
    moved: Moved | None = None


unit_amounts = st.decimals(min_value=0, max_value=2, places=12)
quantities = {
    QUESTIONS: st.integers(1, 40).map(Decimal),
    MEDIA: st.decimals(min_value=Decimal("0.000001"), max_value=4_000, places=6),
}
starts = {QUESTIONS: st.integers(1, 60), MEDIA: st.integers(1, 5_000)}
included = {QUESTIONS: st.integers(0, 40).map(Decimal), MEDIA: st.decimals(min_value=0, max_value=3_000, places=3)}


@st.composite
def deals(draw: st.DrawFn) -> Deal:
    priced = {("questions", ""), ("media_seconds", "")}
    priced |= {(QUESTIONS, variant) for variant in draw(st.sets(st.sampled_from(["ava", "ava:low", ":low"])))}
    groups = [(QUESTIONS, ""), (QUESTIONS, "ava"), (MEDIA, "")]
    allowed = draw(st.sets(st.sampled_from(groups)))
    # A group with tiers has an allowance as well, so that each unit belongs to one group in both.
    laddered = draw(st.sets(st.sampled_from(sorted(allowed)))) if allowed else set()
    if laddered & {(QUESTIONS, ""), (QUESTIONS, "ava")}:
        laddered |= allowed & {(QUESTIONS, ""), (QUESTIONS, "ava")}
    ladders = {}
    for group in sorted(laddered):
        begins = [0, *sorted(draw(st.sets(starts[group[0]], max_size=2)))]
        steps = tuple(Step(Decimal(begin), draw(unit_amounts)) for begin in begins)
        ladders[group] = Ladder(draw(st.booleans()), steps)
    return Deal(
        currency=draw(st.sampled_from(sorted(PLACES))),
        zone=draw(st.sampled_from(ZONES)),
        units={key: (draw(unit_amounts), draw(unit_amounts)) for key in sorted(priced)},
        allowances={group: draw(included[group[0]]) for group in sorted(allowed)},
        ladders=ladders,
        minimum=draw(st.sampled_from([0, 0, 20, 500])),
        trial=draw(st.sampled_from([0, 0, 10, 31, 45])),
    )


@st.composite
def works(draw: st.DrawFn) -> Work:
    meter = draw(st.sampled_from([QUESTIONS, QUESTIONS, MEDIA]))
    month = draw(st.integers(0, MONTHS - 1))
    booked = draw(st.integers(month, MONTHS - 1))
    return Work(
        meter=meter,
        variant=draw(st.sampled_from(VARIANTS[meter])),
        quantity=draw(quantities[meter]),
        month=month,
        at=draw(st.integers(0, 27 * DAY)),
        booked=booked,
        taken_back=draw(st.none() | st.integers(booked, MONTHS - 1)),
        own_time=draw(st.booleans()),
        twice=draw(st.booleans()),
        free=draw(st.integers(0, 9)) == 0,
    )


percents = st.builds(
    Discount,
    st.decimals(min_value=Decimal("0.5"), max_value=100, places=1),
    st.none(),
    st.just(""),
    st.integers(1, MONTHS),
)
amounts_off = st.builds(
    Discount, st.none(), st.integers(1, 50).map(Decimal), st.sampled_from(sorted(PLACES)), st.integers(1, MONTHS)
)
moves = st.builds(
    Moved,
    st.integers(1, MONTHS - 1),
    st.dictionaries(st.just((QUESTIONS, "")), included[QUESTIONS]),
    st.sampled_from([0, 500]),
)
histories = st.builds(
    History,
    deals(),
    st.lists(works(), max_size=12).map(tuple),
    st.sampled_from([Decimal(0), Decimal("0.19"), Decimal("0.08875")]),
    st.lists(percents | amounts_off, max_size=2).map(tuple),
    st.lists(st.tuples(st.sampled_from(sorted(PLACES)), st.integers(1, 60)), max_size=3).map(tuple),
    st.none() | moves,
)

ODD_UNIT = Decimal("0.333333333337")
"""An amount with all of its twelve digits: times an odd quantity it has more digits than the ledger keeps."""
PARTLY_INCLUDED = History(
    Deal(
        "EUR", "Asia/Tokyo", {(QUESTIONS, ""): (ODD_UNIT, ODD_UNIT), (MEDIA, ""): (ODD_UNIT, ODD_UNIT)},
        {(MEDIA, ""): Decimal("10.001")}, {}, 0, 10,
    ),
    (Work(MEDIA, "", Decimal("71.000003"), 0, 20 * DAY, 0, None, True, False, False),),
    Decimal(0), (), (),
)  # fmt: skip

TWO_COUPONS = History(
    Deal(
        "USD", "UTC", {(QUESTIONS, ""): (Decimal("1.005"), Decimal("1.015")), (MEDIA, ""): (ODD_UNIT, ODD_UNIT)},
        {(QUESTIONS, ""): Decimal(3)},
        {(QUESTIONS, ""): Ladder(False, (Step(Decimal(0), Decimal("1.005")), Step(Decimal(10), Decimal("0.905"))))},
        0, 0,
    ),
    tuple(Work(QUESTIONS, "ava", Decimal(13), month, 12 * DAY, month, None, True, False, False) for month in range(3)),
    Decimal("0.19"),
    tuple(Discount(Decimal(percent), None, "", MONTHS) for percent in ("33.3", "12.5")),
    (("USD", 5), ("EUR", 9)),
)  # fmt: skip
"""Two percentages, the second of what the first one left; tiers, credit in two currencies, and tax."""

LATE_UNDER_COUPONS = History(
    Deal(
        "USD", "UTC", {(QUESTIONS, ""): (Decimal("0.335"), Decimal("0.335")), (MEDIA, ""): (ODD_UNIT, ODD_UNIT)},
        {(QUESTIONS, ""): Decimal(10)}, {}, 0, 10,
    ),
    (
        # Free in the trial, and taken back after it.
        Work(MEDIA, "", Decimal(100), 0, 2 * DAY, 0, 1, True, False, False),
        # Partly included, and taken back and booked late when the discount of the month has ended.
        Work(QUESTIONS, "ava", Decimal(30), 0, 20 * DAY, 0, None, True, False, False),
        Work(QUESTIONS, "ava", Decimal(15), 0, 21 * DAY, 0, 1, True, False, False),
        Work(QUESTIONS, "ava", Decimal(40), 0, 22 * DAY, 2, None, True, False, False),
        Work(QUESTIONS, "", Decimal(12), 1, 3 * DAY, 1, 2, True, False, False),
    ),
    Decimal("0.19"),
    (Discount(Decimal(50), None, "", 1), Discount(None, Decimal(3), "USD", 1)),
    (), Moved(1, {(QUESTIONS, ""): Decimal(20)}, 500),
)  # fmt: skip
"""The closed first month changes twice, after its coupons have ended and the tenant has taken a plan with a minimum."""


def moment(zone: str, month: int, seconds: int) -> datetime:
    """Return the moment so many seconds after a month began. The first month has number 0."""
    return bounds(zone, month)[0] + timedelta(seconds=seconds)


def bounds(zone: str, month: int) -> tuple[datetime, datetime]:
    """Return the begin and the end of a month."""
    period = month_of(utc(2026, 3 + month, 15), zone)
    return period.start, period.end
