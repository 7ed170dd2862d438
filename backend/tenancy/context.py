"""The tenant of the current work: one context variable for Python, one transaction-local setting for Postgres.

A second variable holds the collections that the caller is limited to, if the caller is a limited member.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from uuid import UUID

from django.db import connection, transaction

from backend.tenancy.refusals import TenantMoving

_tenant: ContextVar[UUID | None] = ContextVar("tenant", default=None)
Collections = tuple[UUID, ...] | None
_collections: ContextVar[Collections] = ContextVar("collections", default=None)
_statement_ms: ContextVar[int] = ContextVar("statement_ms", default=0)


class NoTenant(RuntimeError):
    """Tenant data was touched outside a tenant_scope: a programming error, never a customer's mistake."""


def current_tenant_id() -> UUID:
    """Return the tenant of the open scope. Raises NoTenant outside a scope."""
    tenant_id = _tenant.get()
    if tenant_id is None:
        raise NoTenant("tenant data is read and written inside tenant_scope only")
    return tenant_id


def entered_tenant_id() -> UUID | None:
    """Return the tenant of the open scope, None outside a scope."""
    return _tenant.get()


def enter_tenant(tenant_id: UUID) -> Token[UUID | None]:
    """Bind the open transaction to a tenant; leave_tenant() takes the token.

    The setting is local to the transaction: a connection-level setting would leak to the next client of a pooled
    connection. Raises RuntimeError outside a transaction, where a local setting would vanish at once, and TenantMoving
    while the tenant moves to another installation.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("a tenant is entered inside a transaction")
    other = _tenant.get()
    if other is not None and other != tenant_id:
        raise RuntimeError("a transaction serves one tenant")
    with connection.cursor() as cursor:
        if limit := _statement_ms.get():
            cursor.execute(
                "SELECT tenancy_enter(%s), set_config('statement_timeout', %s, true)", [tenant_id, str(limit)]
            )
        else:
            cursor.execute("SELECT tenancy_enter(%s)", [tenant_id])
        row = cursor.fetchone()
        if row is not None and not row[0]:
            raise TenantMoving
    return _tenant.set(tenant_id)


@contextmanager
def bounded_statements(seconds: float) -> Iterator[None]:
    """Bound each statement in the scopes that are entered in this block, below the time-out of the role.

    The bound is local to a transaction, like the tenant, because a pooled connection serves many clients.
    """
    token = _statement_ms.set(max(1, int(seconds * 1000)))
    try:
        yield
    finally:
        _statement_ms.reset(token)


def leave_tenant(token: Token[UUID | None]) -> None:
    _tenant.reset(token)


def current_collections() -> Collections:
    """Return the collections whose rows the current work may see; None for all of the tenant's rows."""
    return _collections.get()


@contextmanager
def limited_to(collections: Collections) -> Iterator[None]:
    """Hide from the managers of tenant rows what lies in no collection of these; None hides nothing."""
    token = _collections.set(collections)
    try:
        yield
    finally:
        _collections.reset(token)


@contextmanager
def tenant_scope(tenant_id: UUID) -> Iterator[None]:
    """Open a transaction in which only this tenant's rows can be seen and written."""
    with transaction.atomic():
        token = enter_tenant(tenant_id)
        try:
            yield
        finally:
            leave_tenant(token)
