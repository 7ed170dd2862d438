"""The plans of all statements that PostgreSQL runs for a call, with times measured by the server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch
from uuid import UUID

import psycopg


def plans_of(tenant_id: UUID, call: Callable[[], object]) -> list[str]:
    """Return EXPLAIN (ANALYZE, BUFFERS) of each statement, run as its tenant and role, without the tenant's setting."""
    from django.db import connection

    from backend.tenancy.context import tenant_scope

    sent: list[tuple[str, Any]] = []
    execute: Callable[..., Any] = psycopg.Cursor.execute

    def recorded(self: psycopg.Cursor[Any], query: Any, parameters: Any = None, **options: Any) -> Any:
        if "app.tenant_id" not in str(query):
            sent.append((str(query), parameters))
        return execute(self, query, parameters, **options)

    call()  # so that work that happens only once is left out
    with patch.object(psycopg.Cursor, "execute", recorded):
        call()
    plans = []
    with tenant_scope(tenant_id):
        connection.ensure_connection()
        for statement, parameters in sent:
            with psycopg.Cursor(connection.connection) as cursor:
                # cypher() takes no parameters in a statement that is not planned alone; the values here are our own.
                cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) {statement}", parameters)
                plans.append("\n".join(row[0] for row in cursor.fetchall()))
    return plans
