"""Breakers that an operator opens and closes by hand: jobs that need the dependency wait, and nothing probes it."""

from __future__ import annotations

from django.db import connections

HELD = "held_by_operator"
"""Error code of a breaker that an operator opened."""

# No probe is due before the hold ends; then one job tries the dependency, as after any outage.
_HOLD = (
    "INSERT INTO jobs_breaker AS b (dependency, state, opened_at, probe_at, failures, error_code, error_message) "
    "VALUES (%(dependency)s, 'open', now(), now() + make_interval(hours => %(hours)s), 1, %(code)s, '') "
    "ON CONFLICT (dependency) DO UPDATE SET state = 'open', probing_job = NULL, "
    "opened_at = CASE WHEN b.state = 'closed' THEN now() ELSE b.opened_at END, "
    "probe_at = excluded.probe_at, error_code = excluded.error_code, error_message = ''"
)
_RELEASE = (
    "UPDATE jobs_breaker SET state = 'closed', probing_job = NULL, failures = 0, error_code = '', error_message = '' "
    "WHERE dependency = %s AND state <> 'closed'"
)


def hold(dependency: str, *, hours: int) -> bool:
    """Let no job that needs this dependency begin for some hours. Running jobs go on."""
    with connections["dispatch"].cursor() as cursor:
        cursor.execute(_HOLD, {"dependency": dependency, "hours": hours, "code": HELD})
        return bool(cursor.rowcount)


def release(dependency: str) -> bool:
    """Close the breaker, so that jobs begin at once; False if it is closed already.

    If the dependency is still away, the next job that finds it so opens the breaker again.
    """
    with connections["dispatch"].cursor() as cursor:
        cursor.execute(_RELEASE, [dependency])
        return bool(cursor.rowcount)
