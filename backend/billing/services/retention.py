"""The end of the model calls behind the ledger. The ledger and its sources are kept for ever."""

from __future__ import annotations

from backend.billing.queries import calls_kept_since
from backend.tenancy.months import empty_months


def forget_old_calls() -> list[str]:
    """Delete the months of model calls that are no longer kept, as the dispatch role. Returns the partitions."""
    return empty_months("billing_modelcall", before=calls_kept_since())
