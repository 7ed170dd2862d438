"""Storage and delivery in the ledger: what recordings and renditions of a tenant take each hour, and links to them.

Storage is a snapshot: the bytes at the moment at which the hour is booked stand for the whole hour. An hour in which
nothing could be booked is charged later, once, by the recordings that were stored before it began and still are.

Delivery: a signed link lets its holder fetch a file from object storage, which reports no fetch to this service. So the
first link to a video or a clip in an hour is noted with the size of what it opens, as usage that nobody is charged for.
It is an upper bound for a link that is used once, and it has no cost: the provider's bill has the bytes that really
left. Pictures are not noted, nor what staff play in the console.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from backend.billing.models import EGRESS, STORAGE, UsageEvent, UsageMeter
from backend.billing.rates import quantity, rates_at
from backend.billing.services.usage.rollups import hour_of
from backend.billing.services.usage.rows import Attribution, Line, Source, insert_once, row_of
from backend.tenancy.context import current_tenant_id

GB = 10**9
LINK_ISSUED = "link_issued"
MISSED_FOR = timedelta(days=7)
"""Age up to which an hour that was missed is charged; an older one never is."""


def storage_is_booked(at: datetime) -> bool:
    """Whether the hour of a moment has its storage in the ledger of the entered tenant."""
    return bool(UsageEvent.objects.filter(source_type=STORAGE, source_id=_name(at)).exists())


def missed_hours(at: datetime) -> list[datetime]:
    """Return the hours of the MISSED_FOR before a moment's hour without storage in the ledger, the oldest first."""
    last = hour_of(at)
    booked = set(
        UsageEvent.objects.filter(source_type=STORAGE, occurred_at__gte=last - MISSED_FOR).values_list(
            "occurred_at", flat=True
        )
    )
    hours = [last - timedelta(hours=n) for n in range(int(MISSED_FOR / timedelta(hours=1)), 0, -1)]
    return [hour for hour in hours if hour not in booked]


def record_storage(*, at: datetime, stored_bytes: int) -> None:
    """Bill the stored bytes of the entered tenant for the hour of a moment, once. Nothing stored bills nothing."""
    if stored_bytes <= 0:
        return
    hour = hour_of(at)
    line = Line(UsageMeter.STORAGE_GB_HOURS, quantity(Decimal(stored_bytes) / GB))
    insert_once([row_of(Source(STORAGE, _name(at)), line, rates_at(hour), hour)])


@dataclass(frozen=True, slots=True)
class Link:
    """A signed link. opened: id of the video or the clip whose files it opens. attribution: names the video, too."""

    opened: UUID
    attribution: Attribution
    size_bytes: int


def record_links(links: Sequence[Link], *, at: datetime) -> None:
    """Note that links to recordings or clips were given out, once for each of them and hour."""
    rows, rates = [], rates_at(at)
    for link in links:
        if link.size_bytes <= 0:
            continue
        name = f"{link.opened}:{hour_of(at):%Y-%m-%dT%H}"
        source = Source(EGRESS, name, link.attribution, billable=False, reason=LINK_ISSUED)
        row = row_of(source, Line(UsageMeter.EGRESS_GB, quantity(Decimal(link.size_bytes) / GB)), rates, at)
        row.cost_amount, row.cost_price_id = Decimal(0), None
        rows.append(row)
    if rows:
        insert_once(rows)


def _name(at: datetime) -> str:
    return f"{current_tenant_id()}:{hour_of(at):%Y-%m-%dT%H}"
