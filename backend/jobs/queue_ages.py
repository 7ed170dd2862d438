"""How long the oldest job of each class waited, minute by minute: written by the relays, as the dispatch role.

Jobs that ended show nothing of a queue that stands still. These rows show it while nothing ends.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import connections
from django.db.models.functions import Now

from backend.jobs.dispatching import CLASSES, oldest_runnable_age_seconds
from backend.jobs.models import QueueAge

KEPT = timedelta(days=7)
_RECORD = """
INSERT INTO jobs_queueage AS kept (id, at, queue, oldest_s)
SELECT gen_random_uuid(), date_trunc('minute', now()), age.queue, age.oldest_s
FROM unnest(%(queues)s::text[], %(ages)s::float8[]) AS age(queue, oldest_s)
ON CONFLICT (at, queue) DO UPDATE SET oldest_s = greatest(kept.oldest_s, excluded.oldest_s)
"""


def record_ages() -> None:
    """Store the age of the oldest runnable job of each class under the present minute, 0 for a class without one.

    Of several relays, or several calls in a minute, the highest age stays.
    """
    ages = oldest_runnable_age_seconds()
    with connections["dispatch"].cursor() as cursor:
        cursor.execute(
            _RECORD, {"queues": list(CLASSES), "ages": [max(0.0, ages.get(queue, 0.0)) for queue in CLASSES]}
        )


def forget_old_ages() -> int:
    """Delete what is older than KEPT. Returns the number of rows."""
    deleted, _ = QueueAge.objects.using("dispatch").filter(at__lt=Now() - KEPT).delete()
    return int(deleted)
