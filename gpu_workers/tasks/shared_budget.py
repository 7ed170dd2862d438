"""The share of the tenant's budget that is left for a running question, read repeatedly while it runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

from django.db import connections

from backend.billing.rates import Rates
from backend.billing.services.limits import budgets
from backend.jobs.commits import DATABASE_ERRORS, connection_broke
from backend.jobs.services import LeaseLost
from gpu_workers.engine.answering.budget import Allowance
from gpu_workers.engine.models.roles import Meter
from workers.runner import Work

# Maximum age of the allowance: other questions of the tenant consume the same budget meanwhile.
LOOK_EVERY_SECONDS = 1.0


def allowance_for(question_id: UUID) -> Allowance:
    """Return the budget left for the question, including all that it consumes itself; inside an open tenant_scope."""
    remaining = budgets.monthly_budget(without=question_id).left
    return Allowance(
        max_tokens=remaining.max_tokens,
        max_seconds=None if remaining.max_seconds is None else float(remaining.max_seconds),
        max_cost=remaining.max_cost,
    )


class SharedBudget:
    """The allowance of one question, safe to call from several threads.

    At most once per LOOK_EVERY_SECONDS a call records what the question has consumed so far, which the tenant's other
    questions read, and reads what they leave. Queries run on a thread of their own with its own connection, because
    the engine's threads come and go. close() ends the thread. limited: whether the tenant's budget holds the question;
    the first allowance stands if it does not.
    """

    def __init__(
        self,
        work: Work,
        question_id: UUID,
        *,
        first: Allowance,
        meter: Meter,
        rates: Rates,
        limited: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._work = work
        self._question_id = question_id
        self._allowance = first
        self._meter = meter
        self._rates = rates
        self._limited = limited
        self._clock = clock
        self._looked_at = clock()
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="budget")

    def close(self) -> None:
        self._thread.submit(connections.close_all).result()
        self._thread.shutdown()

    def __enter__(self) -> SharedBudget:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __call__(self) -> Allowance:
        with self._lock:
            if self._limited and self._clock() - self._looked_at >= LOOK_EVERY_SECONDS:
                self._allowance = self._thread.submit(self._look).result()
                self._looked_at = self._clock()
            return self._allowance

    def _look(self) -> Allowance:
        consumed = budgets.consumed_by(self._meter.calls, self._rates)
        try:
            # Under the lease: nothing may be recorded once the question is over or another worker has it.
            with self._work.checkpoint():
                budgets.note_spending(question_id=self._question_id, consumed=consumed)
                return allowance_for(self._question_id)
        except LeaseLost:
            self._work.lost.set()
            return self._allowance
        except DATABASE_ERRORS as error:
            if not connection_broke(error):
                raise
            # What was paid for must not be lost with a connection: the next look opens another.
            connections.close_all()
            return self._allowance
