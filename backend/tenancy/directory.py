"""The directory of cells: in which cell a tenant lives, read from the control database (directory.sql).

A cell registers each tenant and each API key last, right before it commits them. A registration of a key whose row was
rolled back names a key that no cell knows, and that does no harm. This module imports no Django: the router uses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

CONNECT_SECONDS = 5


class NotPlaced(LookupError):
    """The directory has no such cell or tenant."""


class Taken(ValueError):
    """The slug belongs to another tenant, or the cell accepts no tenants."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tenant lives. moving: whether no cell answers its requests now."""

    tenant_id: UUID
    slug: str
    cell: str
    api_url: str
    moving: bool


@dataclass(frozen=True, slots=True)
class Move:
    """The last move of a tenant. since_switch: time since the directory names the target; None before that."""

    tenant_id: UUID
    source: str
    target: str
    phase: str
    counts: dict[str, Any]
    since_switch: timedelta | None
    ended: bool


_PLACE = (
    "SELECT place.tenant_id, place.slug, place.cell, cell.api_url, place.moving "
    "FROM directory.place JOIN directory.cell ON cell.name = place.cell "
)
PLACE_OF_KEY = f"{_PLACE} JOIN directory.key USING (tenant_id) WHERE key.public_id = %s"
PLACE_OF_SLUG = f"{_PLACE} WHERE place.slug = %s"
ANY_CELL = "SELECT api_url FROM directory.cell ORDER BY name LIMIT 1"


class Directory:
    """A connection to the control database; each call is a transaction of its own. Use it as a context manager."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(
            url, autocommit=True, connect_timeout=CONNECT_SECONDS, prepare_threshold=None
        )

    def __enter__(self) -> Directory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    # --- what a cell registers ------------------------------------------------------------------------------------

    def place_tenant(self, tenant_id: UUID, *, slug: str, cell: str) -> None:
        """Register a new tenant. Raises Taken, NotPlaced for an unknown cell."""
        row = self._connection.execute("SELECT accepts FROM directory.cell WHERE name = %s", [cell]).fetchone()
        if row is None:
            raise NotPlaced(f"there is no cell {cell}")
        if row == (False,):
            raise Taken(f"the cell {cell} accepts no new tenants")
        made = self._connection.execute(
            "INSERT INTO directory.place (tenant_id, slug, cell) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            [tenant_id, slug, cell],
        )
        if made.rowcount == 0:
            raise Taken(f"a tenant with the slug {slug} exists")

    def register_key(self, public_id: str, tenant_id: UUID) -> None:
        """Register an API key of a tenant. Raises NotPlaced for an unknown tenant."""
        try:
            self._connection.execute(
                "INSERT INTO directory.key (public_id, tenant_id) VALUES (%s, %s)", [public_id, tenant_id]
            )
        except psycopg.errors.ForeignKeyViolation:
            raise NotPlaced(f"the directory has no tenant {tenant_id}") from None

    # --- what operators do ----------------------------------------------------------------------------------------

    def add_cell(self, name: str, api_url: str, *, accepts: bool = True) -> None:
        """Add a cell, or change its address. Raises ValueError for a name that is not valid."""
        try:
            self._connection.execute(
                "INSERT INTO directory.cell (name, api_url, accepts) VALUES (%s, %s, %s) ON CONFLICT (name) "
                "DO UPDATE SET api_url = excluded.api_url, accepts = excluded.accepts",
                [name, api_url, accepts],
            )
        except psycopg.errors.CheckViolation:
            raise ValueError(f"{name!r} is no name of a cell: lower-case letters, digits, hyphens") from None

    def cells(self) -> list[tuple[str, str, bool, int]]:
        """Return name, API URL, whether new tenants are accepted, and number of tenants of each cell."""
        return self._connection.execute(
            "SELECT name, api_url, accepts, (SELECT count(*) FROM directory.place WHERE cell = name) "
            "FROM directory.cell ORDER BY name"
        ).fetchall()

    def place_of(self, slug_or_id: str) -> Place:
        """Return the place of a tenant. Raises NotPlaced."""
        row = self._connection.execute(
            f"{_PLACE} WHERE place.slug = %(name)s OR place.tenant_id::text = %(name)s", {"name": slug_or_id}
        ).fetchone()
        if row is None:
            raise NotPlaced(f"the directory has no tenant {slug_or_id}")
        return Place(*row)

    def move_of(self, tenant_id: UUID) -> Move | None:
        """Return the last move of a tenant."""
        row = self._connection.execute(
            "SELECT tenant_id, source, target, phase, counts, now() - switched_at, ended_at IS NOT NULL "
            "FROM directory.move WHERE tenant_id = %s",
            [tenant_id],
        ).fetchone()
        return None if row is None else Move(*row)

    def claim_move(self, tenant_id: UUID) -> bool:
        """Keep other processes from moving the tenant until this connection closes. Returns False if one does."""
        row = self._connection.execute(
            "SELECT pg_try_advisory_lock(hashtextextended('move ' || %s::text, 0))", [tenant_id]
        ).fetchone()
        return row == (True,)

    def begin_move(self, tenant_id: UUID, *, target: str, phase: str) -> None:
        """Begin a move, and let no cell answer the tenant's requests. Raises NotPlaced for an unknown cell."""
        with self._connection.transaction():
            try:
                self._connection.execute(
                    "INSERT INTO directory.move (tenant_id, source, target, phase) "
                    "SELECT tenant_id, cell, %(target)s, %(phase)s FROM directory.place WHERE tenant_id = %(tenant)s "
                    "ON CONFLICT (tenant_id) DO UPDATE SET source = excluded.source, target = excluded.target, "
                    "phase = excluded.phase, counts = '{}', began_at = now(), switched_at = NULL, ended_at = NULL",
                    {"tenant": tenant_id, "target": target, "phase": phase},
                )
            except psycopg.errors.ForeignKeyViolation:
                raise NotPlaced(f"there is no cell {target}") from None
            self._connection.execute("UPDATE directory.place SET moving = true WHERE tenant_id = %s", [tenant_id])

    def reach(self, tenant_id: UUID, phase: str, *, counts: Mapping[str, Any] | None = None) -> None:
        """Record that a move has reached a phase."""
        self._connection.execute(
            "UPDATE directory.move SET phase = %s, counts = coalesce(%s, counts) WHERE tenant_id = %s",
            [phase, None if counts is None else Jsonb(dict(counts)), tenant_id],
        )

    def switch(self, tenant_id: UUID, phase: str) -> None:
        """Name the target as the tenant's cell."""
        with self._connection.transaction():
            self._connection.execute(
                "UPDATE directory.move SET phase = %s, switched_at = now() WHERE tenant_id = %s", [phase, tenant_id]
            )
            self._connection.execute(
                "UPDATE directory.place SET cell = move.target, moving = false FROM directory.move "
                "WHERE move.tenant_id = place.tenant_id AND place.tenant_id = %s",
                [tenant_id],
            )

    def end_move(self, tenant_id: UUID, phase: str) -> None:
        """Record the end of a move; the cell that the directory names answers."""
        with self._connection.transaction():
            self._connection.execute(
                "UPDATE directory.move SET phase = %s, ended_at = now() WHERE tenant_id = %s", [phase, tenant_id]
            )
            self._connection.execute("UPDATE directory.place SET moving = false WHERE tenant_id = %s", [tenant_id])
