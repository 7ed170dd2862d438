"""Moves a tenant from one cell to another: fenced, copied, compared, switched, erased.

The control database records the phase that a move has reached. Each phase can be repeated, so a move that was stopped
at any point goes on when it is started again.

draining: the old cell begins nothing for the tenant and ends what runs. copying: the old cell opens no transaction for
the tenant; rows, graph and objects are copied and compared. opening: the new cell takes over, and there is no way back.
switched: the directory names the new cell; the old cell is erased when no router can remember it. done.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from uuid import UUID

from backend.cells.cells_file import Cell
from backend.cells.people_rows import PersonTaken, check_people, copy_people, erase_people, members
from backend.cells.tenant_graph import copy_graph, erase_graph, graph_sums
from backend.cells.tenant_objects import TenantObjects
from backend.cells.tenant_rows import Sum, copy_rows, differences, erase_rows, sums, transaction_of
from backend.tenancy.directory import Directory, Move

_POLL_SECONDS = 0.5


class Phase(StrEnum):
    DRAINING = "draining"
    COPYING = "copying"
    OPENING = "opening"
    SWITCHED = "switched"
    DONE = "done"
    ABORTED = "aborted"


class MoveRefused(ValueError):
    """The tenant cannot be moved as things stand; nothing was changed."""


class MoveFailed(RuntimeError):
    """The copy is not equal to the original. The move can be started again or aborted."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a move waits. drain: for running jobs, which are taken back then. forget: from the switch until the old
    cell is erased, longer than a router remembers a place. Both in seconds."""

    drain: float = 900.0
    forget: float = 30.0


# The advisory lock of tenancy_enter (backend/tenancy/migrations/0001_initial.py): whoever gets it knows that every
# transaction that began before the fence has ended.
_WAIT_FOR_TRANSACTIONS = "SELECT pg_advisory_xact_lock(hashtextextended('tenant ' || %s, 0))"
_RUNNING = "SELECT count(*) FROM jobs_job WHERE state = 'running' AND lease_until >= now()"
# A higher token makes the commit of a worker that still runs the job fail; the attempt does not count.
_TAKE_BACK = (
    "UPDATE jobs_job SET state = 'queued', attempt = greatest(attempt - 1, 0), not_before = now(), due = true, "
    "lease_owner = '', lease_until = NULL, lease_token = lease_token + 1 WHERE state = 'running'"
)
# Fair tags are times on a clock of the cell (backend.jobs.fairness): the tenant's jobs keep their order and come next.
_RETAG = (
    "UPDATE jobs_job job SET fair_tag = job.fair_tag - low.tag + coalesce(low.served, 0) FROM (SELECT queue, priority, "
    "min(fair_tag) AS tag, (SELECT served_tag FROM jobs_classclock WHERE queue = waiting.queue) AS served "
    "FROM jobs_job waiting WHERE state = 'queued' GROUP BY queue, priority) low "
    "WHERE job.state = 'queued' AND job.queue = low.queue AND job.priority = low.priority"
)


class TenantMove:
    """One move, at the phase that the directory records. report: called with each phase as it is reached."""

    def __init__(
        self,
        directory: Directory,
        move: Move,
        source: Cell,
        target: Cell,
        *,
        patience: Patience,
        report: Callable[[str], None],
    ) -> None:
        self._directory = directory
        self._move = move
        self._tenant = move.tenant_id
        self._source, self._target = source, target
        self._patience = patience
        self._report = report
        self._shared_bucket = source.bucket == target.bucket

    def run(self) -> None:
        """Go on until the move is done. Raises MoveFailed, and errors of database and storage."""
        phase = Phase(self._move.phase)
        steps = {
            Phase.DRAINING: (self._drain, Phase.COPYING),
            Phase.COPYING: (self._copy, Phase.OPENING),
            Phase.OPENING: (self._open, Phase.SWITCHED),
            Phase.SWITCHED: (self._erase_source, Phase.DONE),
        }
        while phase in steps:
            self._report(phase)
            step, following = steps[phase]
            step()
            if following is Phase.SWITCHED:
                self._directory.switch(self._tenant, following)
            elif following is Phase.DONE:
                self._directory.end_move(self._tenant, following)
            elif following is not Phase.OPENING:  # _copy() records the phase with the counts
                self._directory.reach(self._tenant, following)
            phase = following
        self._report(phase)

    def abort(self) -> None:
        """Leave the tenant where it was, and erase what was copied. Raises MoveRefused after the copy."""
        if self._move.phase not in (Phase.DRAINING, Phase.COPYING):
            raise MoveRefused(f"the move is {self._move.phase}; it can only go on")
        self._erase(self._target)
        self._set_fence(self._source, "")
        self._directory.end_move(self._tenant, Phase.ABORTED)
        self._report(Phase.ABORTED)

    # --- phases -----------------------------------------------------------------------------------------------------

    def _drain(self) -> None:
        self._set_fence(self._source, "draining")
        until = time.monotonic() + self._patience.drain
        while time.monotonic() < until:
            with transaction_of(self._source.environment["DATABASE_URL"], self._tenant) as rows:
                if rows.execute(_RUNNING).fetchone() == (0,):
                    return
            time.sleep(_POLL_SECONDS)

    def _copy(self) -> None:
        self._set_fence(self._source, "closed")
        with transaction_of(self._source.environment["DATABASE_URL"], self._tenant) as rows:
            rows.execute("SET LOCAL lock_timeout = '10min'")
            rows.execute(_WAIT_FOR_TRANSACTIONS, [str(self._tenant)])
            rows.execute(_TAKE_BACK)
            if not self._shared_bucket:
                # A multipart upload lives in its bucket. The customer begins it again.
                rows.execute("UPDATE library_upload SET status = 'expired' WHERE status = 'open'")
        self._erase(self._target)
        self._report("fenced")
        try:
            copy_people(self._source, self._target, members(self._source, self._tenant))
        except PersonTaken as error:
            raise MoveFailed(str(error)) from None
        with (
            transaction_of(self._source.environment["DATABASE_URL"], self._tenant, snapshot=True) as source,
            # app_rw may not write the history of jobs.
            transaction_of(self._target.environment["DATABASE_OWNER_URL"], self._tenant) as rows,
            transaction_of(self._target.environment["DATABASE_URL"], self._tenant) as graph,
        ):
            copy_rows(source, rows)
            copy_graph(source, graph)
            self._report("rows copied")
            original = sums(source) | graph_sums(source)
            _compare(original, sums(rows) | graph_sums(graph))
        objects = self._copy_objects()
        counts = {name: asdict(count)["rows"] for name, count in original.items() if count.rows}
        self._directory.reach(self._tenant, Phase.OPENING, counts={**counts, "objects": objects})

    def _copy_objects(self) -> int:
        source = TenantObjects(self._source, self._tenant)
        sizes = source.sizes()
        if self._shared_bucket:
            return len(sizes)
        target = TenantObjects(self._target, self._tenant)
        source.copy_to(target, sizes=sizes)
        if target.sizes() != sizes:
            raise MoveFailed("the objects of the two cells differ")
        return len(sizes)

    def _open(self) -> None:
        with transaction_of(self._target.environment["DATABASE_URL"], self._tenant) as rows:
            opened = rows.execute(
                "UPDATE tenancy_tenant SET fence = '', placement = %s WHERE fence = 'closed'", [self._target.name]
            )
            if opened.rowcount:
                rows.execute(_RETAG)

    def _erase_source(self) -> None:
        self._report("waiting")
        while True:
            move = self._directory.move_of(self._tenant)
            assert move is not None
            assert move.since_switch is not None
            left = self._patience.forget - move.since_switch.total_seconds()
            if left <= 0:
                break
            time.sleep(min(left, 5.0))
        self._erase(self._source)
        with transaction_of(self._source.environment["DATABASE_URL"], self._tenant, snapshot=True) as rows:
            left_over = [name for name, count in (sums(rows) | graph_sums(rows)).items() if count.rows]
        if left_over:
            raise MoveFailed(f"the old cell still has rows in {', '.join(left_over)}")

    # --- the two cells ------------------------------------------------------------------------------------------------

    def _set_fence(self, cell: Cell, fence: str) -> None:
        with transaction_of(cell.environment["DATABASE_URL"], self._tenant) as rows:
            rows.execute("UPDATE tenancy_tenant SET fence = %s", [fence])

    def _erase(self, cell: Cell) -> None:
        people = members(self._source, self._tenant) | members(self._target, self._tenant)
        with transaction_of(cell.environment["DATABASE_URL"], self._tenant) as rows:
            erase_graph(rows)
        with transaction_of(cell.environment["DATABASE_OWNER_URL"], self._tenant) as rows:
            erase_rows(rows)
        erase_people(cell, people, tenant_id=self._tenant)
        if not self._shared_bucket:
            TenantObjects(cell, self._tenant).erase()


def begin(directory: Directory, tenant_id: UUID, source: Cell, target: Cell, *, expire_uploads: bool) -> Move:
    """Begin a move after checking that it can succeed. Raises MoveRefused.

    expire_uploads: unfinished uploads do not hinder the move; their customer begins them again.
    """
    if source.name == target.name:
        raise MoveRefused(f"the tenant lives in {target.name} already")
    with (
        transaction_of(source.environment["DATABASE_URL"], tenant_id, snapshot=True) as here,
        transaction_of(target.environment["DATABASE_URL"], tenant_id, snapshot=True) as there,
    ):
        if faults := differences(here, there):
            raise MoveRefused(f"the cells are not alike: {', '.join(faults)}")
        row = here.execute("SELECT count(*) FROM library_upload WHERE status = 'open'").fetchone()
    if row and row[0] and source.bucket != target.bucket and not expire_uploads:
        raise MoveRefused(f"{row[0]} uploads are unfinished; wait for them or pass --expire-uploads")
    try:
        check_people(source, target, members(source, tenant_id))
    except PersonTaken as error:
        raise MoveRefused(str(error)) from None
    directory.begin_move(tenant_id, target=target.name, phase=Phase.DRAINING)
    move = directory.move_of(tenant_id)
    assert move is not None
    return move


def _compare(original: dict[str, Sum], copy: dict[str, Sum]) -> None:
    unequal = sorted(name for name in original.keys() | copy.keys() if original.get(name) != copy.get(name))
    if unequal:
        raise MoveFailed(f"the rows of the two cells differ in {', '.join(unequal)}")
