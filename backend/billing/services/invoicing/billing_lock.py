"""The lock under which a tenant's invoices and credit change."""

from __future__ import annotations

from django.db import connection

from backend.tenancy.context import current_tenant_id


def lock_billing() -> None:
    """Wait until no other transaction changes the entered tenant's invoices, and keep others out until the commit.

    It is taken before any row of invoices, credit and series of numbers.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"billing:{current_tenant_id()}"])
