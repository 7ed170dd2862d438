"""The page of operations: what waits, fails or is away now, and the acts that mend it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import redis
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from backend.api.monitoring import fleet_reports, model_reports
from backend.console.access.viewing import OPERATORS, WORK, role_of
from backend.console.acting.act_forms import HoldForm
from backend.console.acting.actions import BREAKER_ACTS, JOB_ACTS
from backend.console.acting.acts import Act, perform
from backend.console.operation import charts
from backend.console.operation.charts import COLOURS, Chart, Series
from backend.console.queries import operations as queries
from backend.console.queries.work import queues
from backend.console.site import site
from backend.jobs.breakers import NEEDS
from backend.jobs.control import SKIPPABLE
from backend.jobs.models import QUEUE_OF, Breaker
from backend.library.indexing.failure import is_final
from backend.tenancy.refusals import Refused

SPAN = timedelta(days=7)
"""Time for which jobs that ended badly are listed: they leave the queue a while after their end."""
TREND = timedelta(hours=24)
"""Time over which the age of the queues is drawn."""
STEP = timedelta(minutes=15)
DEPENDENCIES = sorted({dependency for needed in NEEDS.values() for dependency in needed})


@transaction.non_atomic_requests
@require_http_methods(["GET", "HEAD", "POST"])
def operations(request: HttpRequest) -> HttpResponse:
    """Show what operators look at in an incident; act on jobs with one error, or hold a dependency."""
    if role_of(request) not in WORK:
        raise PermissionDenied
    if request.method == "POST":
        if role_of(request) not in OPERATORS:
            raise PermissionDenied
        _act(request)
        return HttpResponseRedirect(reverse("operations"))
    now = timezone.now()
    failing = list(queries.failing_endpoints())
    attempts = queries.last_attempts(failing)
    fleet = _fleet()
    context = {
        **site.each_context(request),
        "title": "Operations",
        "ages": ages_chart(queries.ages(now - TREND), now),
        "may_act": role_of(request) in OPERATORS,
        "queues": queues(),
        "failing": [{**line, "final": is_final(line["error_code"])} for line in queries.failing_jobs(now - SPAN)],
        "most_at_once": queries.MOST_AT_ONCE,
        "skippable": {QUEUE_OF[kind] for kind in SKIPPABLE},
        "breakers": queries.breakers(),
        "dependencies": DEPENDENCIES,
        "hold_form": HoldForm(),
        **fleet,
        "late_wake_up_s": queries.late_wake_up_s(),
        "unrung_s": _unrung_s(fleet["relays"]),
        "busy": queries.busy_workers(),
        "endpoints": [(endpoint, attempts.get(endpoint.id)) for endpoint in failing],
        "staff_acts": queries.acts_of_staff(now - timedelta(days=7)),
    }
    return TemplateResponse(request, "console/operations.html", context)


def ages_chart(found: Sequence[dict[str, Any]], now: datetime) -> Chart:
    """Return the age of each class's oldest runnable job for each quarter of an hour of TREND, in minutes.

    A quarter for which no relay recorded anything has no value. A class in which nothing waited is left out.
    """
    last = now.astimezone(UTC)
    last = last.replace(minute=last.minute - last.minute % 15, second=0, microsecond=0)
    times = [last - n * STEP for n in range(TREND // STEP, -1, -1)]
    by_class: defaultdict[str, dict[datetime, float]] = defaultdict(dict)
    for row in found:
        by_class[row["queue"]][row["at"].astimezone(UTC)] = round(row["oldest_s"] / 60, 2)
    highest = {name: max(values.values()) for name, values in by_class.items()}
    shown = sorted((name for name in by_class if highest[name] > 0), key=lambda name: (-highest[name], name))
    series = [Series(name, [by_class[name].get(at) for at in times]) for name in sorted(shown[: len(COLOURS)])]
    return charts.lines([f"{at:%H:%M}" for at in times], series, unit="minutes")


def _unrung_s(relays: Sequence[dict[str, Any]]) -> float | None:
    """Return for how long the oldest due job has had no bell, in seconds; None while a relay reports.

    A relay reports after it has rung for all that is due, so what became due after the last report has no bell.
    """
    if any(not relay["stale"] for relay in relays):
        return None
    return queries.unrung_s(min((relay["age_seconds"] for relay in relays), default=None))


def _fleet() -> dict[str, Any]:
    """Return what workers, relays and model servers last reported; fleet_error says that nobody can know."""
    try:
        models = [{"role": role, **report} for role, report in model_reports.last_known().items()]
        return {
            "models": models,
            "servers": [_with_time(report) for report in fleet_reports.reports(fleet_reports.SERVERS)],
            "workers": fleet_reports.reports(fleet_reports.WORKERS),
            "relays": fleet_reports.reports(fleet_reports.RELAYS),
            "fleet_error": "",
        }
    except redis.RedisError as error:
        return {"models": [], "servers": [], "workers": [], "relays": [], "fleet_error": type(error).__name__}


def _with_time(report: dict[str, Any]) -> dict[str, Any]:
    """Return the report of a model server with the time of its last error, if it has one."""
    at = report.get("last_error_at")
    return {**report, "failed_at": datetime.fromtimestamp(at, UTC) if isinstance(at, int | float) else None}


def _act(request: HttpRequest) -> None:
    try:
        chosen = request.POST.get("act", "").lower()
        if chosen == "hold":
            _hold(request)
        elif chosen in ("replay", "cancel", "skip"):
            _act_on_jobs(request, JOB_ACTS[chosen])
        else:
            raise Refused("unknown_act", "There is no such act.")
    except Refused as refused:
        messages.error(request, refused.detail)


def _hold(request: HttpRequest) -> None:
    form, dependency = HoldForm(request.POST), request.POST.get("dependency", "")
    if dependency not in DEPENDENCIES or not form.is_valid():
        raise Refused("invalid", "Choose a dependency and between 1 and 24 hours.")
    perform(BREAKER_ACTS["hold"], request, Breaker(dependency=dependency), form.cleaned_data)
    messages.success(request, f"Jobs that need {dependency} are held.")


def _act_on_jobs(request: HttpRequest, act: Act) -> None:
    """Act on each job of a class with one error by itself; a refusal of one leaves the others."""
    chosen = queries.jobs_with(
        queue=request.POST.get("queue", ""),
        error_code=request.POST.get("error_code", ""),
        ended=act.name == "replay",
        since=timezone.now() - SPAN,
    )
    done, refusals = 0, []
    for job in chosen:
        try:
            perform(act, request, job)
        except Refused as refused:
            refusals.append(refused.detail)
            if refused.code == "reason_missing":
                break
            continue
        done += 1
    if refusals:
        messages.error(request, f"{len(refusals)} refused: {'; '.join(sorted(set(refusals))[:3])}")
    if done or not refusals:
        messages.success(request, f"{act.title}: {done} jobs.")
