"""Takes the text of deleted things out of webhook events, which keep their ids, order and times.

A delivery that is still pending sends the redacted body.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from uuid import UUID

from backend.webhooks.models import WebhookEvent

EMPTIED = {"answer": "", "choice": None, "confidence": None, "error": None, "name": ""}
"""Fields of `data` that may hold text from a video or from a customer, and what stands there afterwards."""
BATCH = 500


def redact_events(resource_ids: Collection[UUID]) -> int:
    """Empty the texts of all events about these resources. Returns the number of events."""
    changed = []
    for event in WebhookEvent.objects.filter(resource_id__in=list(resource_ids)).order_by("id").iterator(BATCH):
        envelope = json.loads(event.body)
        kept = {name: EMPTIED.get(name, value) for name, value in envelope["data"].items()}
        if kept != envelope["data"]:
            event.body = json.dumps({**envelope, "data": kept}, ensure_ascii=False, separators=(",", ":"))
            changed.append(event)
    WebhookEvent.objects.bulk_update(changed, ["body"], batch_size=BATCH)
    return len(changed)
