"""Attributed device time is no more than the device time that was paid."""

from __future__ import annotations

from backend.billing.invariants.registry import invariant
from backend.billing.models import CostDay, MachineDay


@invariant("attributed_within_paid", of_service=True)
def attributed_within_paid() -> list[str]:
    """Return the reconciled days with paid machine hours that were attributed more than they had.

    A rate of a model is too high then, or machine hours are missing.
    """
    days = CostDay.objects.filter(overhead_seconds__lt=0, day__in=MachineDay.objects.values("day")).order_by("day")
    return [
        f"{row.day}: {row.attributed_seconds} s attributed of {row.paid_seconds} s of device time that was paid"
        for row in days
    ]
