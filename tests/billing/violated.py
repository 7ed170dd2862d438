"""The invariants of the money, checked by a test at its end."""

from __future__ import annotations

from backend.billing.invariants import load, registry
from backend.billing.services.usage import rollups
from tests.conftest import Cast


def violations(cast: Cast, *names: str) -> dict[str, list[str]]:
    """Return the violations of a tenant by invariant, of the named ones or of all."""
    load()
    outcomes = registry.check_all(names, tenants=[cast.tenant_id])
    return {outcome.name: list(outcome.violations) for outcome in outcomes if outcome.violations}


def settled_violations(cast: Cast) -> dict[str, list[str]]:
    """Return the violations of all invariants of a tenant after its roll-ups are rebuilt: no hour is stale then."""
    rollups.rebuild_stale(cast.tenant_id)
    return violations(cast)
