"""Rating of a month: events valued by the prices in force, summed up by price, and turned into the lines of bills."""

from __future__ import annotations

import os
import random
import time
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from uuid import UUID

from bench.figures import Figures, at_least, show_progress
from bench.stack import NOT_USED

EVENTS, TENANTS = int(os.environ.get("BENCH_EVENTS", "1000000")), 1_000
METERS = ("questions", "media_seconds", "searches", "storage_gb_hours", "egress_gb")
VARIANTS = ("", "ava:low", "ava:medium", "ava:high", "tree:low")
SEED = 20_260_101

_NO_DATABASE = {
    "DJANGO_SETTINGS_MODULE": "backend.settings",
    "AVA_PROCESS": "worker",
    "AVA_CACHE_SALT_KEY": "none",
    **{
        f"DATABASE_{role}URL": "postgresql://none:none@127.0.0.1:9/none"
        for role in ("", "OWNER_", "DISPATCH_", "CONSOLE_")
    },
}
"""Required settings of a process: nothing here asks a database."""

Event = tuple[int, str, str, Decimal]
"""(tenant, meter, variant, quantity)"""


def rated() -> Figures:
    """Value EVENTS events one by one, as the ledger does, and make the bill of each of TENANTS tenants from them."""
    for name, value in {**NOT_USED, **_NO_DATABASE}.items():
        os.environ.setdefault(name, value)
    import django

    django.setup()
    from backend.billing.rates import Rate, Rates
    from backend.billing.rating import Allowance, Terms, Tier, UsageTotal, rate_period, total_of

    show_progress(f"{EVENTS} events")
    prices = {
        ("price", meter, "", variant): Rate(Decimal(n + 1) / 10_000, UUID(int=n + 1), 1)
        for n, (meter, variant) in enumerate((meter, variant) for meter in METERS for variant in ("", "ava:low", "ava"))
    }
    rates = Rates(prices, {})
    events = list(_events())
    began = time.perf_counter()
    sums: dict[tuple[int, str, str, UUID | None], list[Decimal]] = defaultdict(lambda: [Decimal(0), Decimal(0)])
    for tenant, meter, variant, quantity in events:
        worth = rates.value("price", meter, "", quantity, variant)
        total = sums[tenant, meter, variant, worth.price_id]
        total[0] += quantity
        total[1] += worth.amount
    valued = time.perf_counter() - began
    units = {rate.price_id: rate.unit_amount for rate in prices.values()}
    usage: dict[int, list[UsageTotal]] = defaultdict(list)
    for (tenant, meter, variant, price), (quantity, amount) in sums.items():
        usage[tenant].append(UsageTotal(meter, variant, price, units[price], quantity, amount))
    terms = Terms(
        "USD",
        tuple(Allowance(meter, "", Decimal(100)) for meter in METERS),
        tuple(
            Tier("questions", "", "graduated", Decimal(start), Decimal(amount))
            for start, amount in ((0, "0.02"), (1_000, "0.015"), (100_000, "0.01"))
        ),
        minimum=Decimal(10),
    )
    bills = [total_of(rate_period(totals, terms)) for totals in usage.values()]
    taken = time.perf_counter() - began
    assert len(bills) == TENANTS
    assert min(bills) >= 10
    yield at_least("rated_events_per_s", EVENTS / valued, 10_000, f"{EVENTS} events valued one by one, one process")
    yield at_least(
        "billed_events_per_s", EVENTS / taken, 10_000, f"the same, with the bills of {TENANTS} tenants, one process"
    )


def _events() -> Iterator[Event]:
    chance = random.Random(SEED)
    for n in range(EVENTS):
        yield (
            n % TENANTS,
            METERS[chance.randrange(len(METERS))],
            VARIANTS[chance.randrange(len(VARIANTS))],
            Decimal(chance.randrange(1, 60_000_000)) / 1_000_000,
        )
