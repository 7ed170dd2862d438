"""How long answers take from each stage on: measured while one is made, rolled up when it is stored."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from django.db import connection

from backend.questions.models import Question
from backend.tenancy.context import current_tenant_id

WEIGHT_OF = 30
"""Number of the latest answers that decide a mean: models and machines change."""

# Every writer locks the rows in this order, and after all others of its transaction.
_ADD = """
INSERT INTO questions_questionpace AS pace (id, tenant_id, method, effort, model, stage, left_ms, samples)
SELECT gen_random_uuid(), %(tenant)s, %(method)s, %(effort)s, %(model)s, stage, left_ms, 1
FROM unnest(%(stages)s::text[], %(left)s::float8[]) AS measured (stage, left_ms) ORDER BY stage
ON CONFLICT (tenant_id, method, effort, model, stage) DO UPDATE SET
left_ms = pace.left_ms + (excluded.left_ms - pace.left_ms) / least(pace.samples + 1, %(weight)s),
samples = pace.samples + 1
"""


class StageClock:
    """Measures when the stages of one attempt begin. clock: seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun: list[tuple[str, float]] = [("", clock())]

    def enter(self, stage: str) -> None:
        """Note that a stage is worked on; it begins if another one was worked on before."""
        if stage != self._begun[-1][0]:
            self._begun.append((stage, self._clock()))

    def left_ms(self) -> dict[str, float]:
        """Return the mean time from each beginning of a stage until now; stage "" is the beginning of work."""
        now = self._clock()
        left: dict[str, list[float]] = defaultdict(list)
        for stage, begun in self._begun:
            left[stage].append(1000 * (now - begun))
        return {stage: sum(times) / len(times) for stage, times in left.items()}


def add_pace(question: Question, left_ms: Mapping[str, float]) -> None:
    """Add an answer to the roll-ups of its method, effort and model. left_ms: by stage, see StageClock.

    The last write of a transaction, because other answers of the tenant wait for it.
    """
    stages: Sequence[str] = sorted(left_ms)
    with connection.cursor() as cursor:
        cursor.execute(
            _ADD,
            {
                "tenant": current_tenant_id(),
                "method": question.method,
                "effort": question.effort,
                "model": question.model_names.get("reasoner", ""),
                "stages": list(stages),
                "left": [left_ms[stage] for stage in stages],
                "weight": WEIGHT_OF,
            },
        )
