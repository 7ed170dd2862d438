"""How many videos a tenant may have at the same time, by its plan."""

from __future__ import annotations

from django.db import connection

from backend.billing.services.limits.plan_limits import VIDEOS, plan_limits
from backend.billing.services.limits.quotas import check_videos
from backend.library import queries
from backend.tenancy.context import current_tenant_id
from backend.webhooks.thresholds import report_crossings


def require_room_for_video() -> None:
    """Hold other new videos of the tenant back until the transaction ends, and see that one more fits into the plan.

    Each threshold of the limit that it comes to is reported. A plan without the limit costs one read. Raises Refused
    `video_quota_exceeded` (402).
    """
    if VIDEOS not in plan_limits():
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"videos:{current_tenant_id()}"])
    report_crossings(check_videos(queries.video_count()))
