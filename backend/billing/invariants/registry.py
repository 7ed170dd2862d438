"""What must hold of the money: a named check each, run by `manage.py check_invariants` and every night."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from backend.tenancy.context import tenant_scope
from backend.tenancy.models import Tenant

Check = Callable[[], list[str]]
MOST_SHOWN = 20
"""Violations of one invariant and tenant that are kept; their number is exact."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """name: stable, in the gauge and in the runbook. of_service: checked once, and not once for each tenant."""

    name: str
    check: Check
    of_service: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """Violations of one invariant. tenant_id: None if the invariant holds for the service as a whole."""

    name: str
    tenant_id: UUID | None
    violations: tuple[str, ...]


INVARIANTS: dict[str, Invariant] = {}


def invariant(name: str, *, of_service: bool = False) -> Callable[[Check], Check]:
    """Register a check, which returns a sentence for each violation and an empty list if there is none.

    It runs inside the tenant_scope of each tenant and reads what the tenant may read. With of_service it runs once and
    without a tenant, so it names its own connection ("dispatch") or reads tables without tenants. Raises ValueError
    for a name that is taken.
    """

    def register(check: Check) -> Check:
        known = INVARIANTS.get(name)
        if known is not None and known.check is not check:
            raise ValueError(f"there is an invariant {name} already")
        INVARIANTS[name] = Invariant(name, check, of_service)
        return check

    return register


def all_tenants() -> list[UUID]:
    """Return the tenants of this installation, as the dispatch role sees them."""
    return list(Tenant.objects.using("dispatch").order_by("id").values_list("id", flat=True))


def check_all(names: Sequence[str] = (), *, tenants: Sequence[UUID] | None = None) -> Iterator[Outcome]:
    """Check the named invariants, all of them by default. tenants: only these, all by default.

    Yields an outcome for each invariant of the service, then one for each tenant and invariant. Raises KeyError for a
    name that no invariant has.
    """
    chosen = [INVARIANTS[name] for name in names or sorted(INVARIANTS)]
    for one in chosen:
        if one.of_service and tenants is None:
            yield Outcome(one.name, None, tuple(one.check()))
    of_tenants = [one for one in chosen if not one.of_service]
    for tenant_id in all_tenants() if tenants is None else tenants:
        for one in of_tenants:
            # A transaction each, so that no snapshot is held while all of them are checked.
            with tenant_scope(tenant_id):
                found = tuple(one.check())
            yield Outcome(one.name, tenant_id, found)
