"""The overview: money, work, latency and failures over all tenants, each figure with a link to what it is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.core.cache import cache
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from redis import RedisError

from backend.console.access.viewing import MONEY, WORK, role_of
from backend.console.operation import charts
from backend.console.operation.charts import Chart, Series
from backend.console.queries import billing, feedback, latency, money, work
from backend.console.queries.latency import Latency
from backend.console.queries.money import Spending, Sums
from backend.questions.models import TimesKind
from backend.questions.queries.stage_times import WHOLE

Moment = TypeVar("Moment", date, datetime)
SPANS = {"1": "Today", "7": "7 days", "30": "30 days", "90": "90 days"}
DEFAULT_SPAN = "7"
HOURLY = 7
"""Days up to which latency is shown by the hour; longer spans are shown by the day."""
POINTS = {"p50": "median", "p95": "p95", "p99": "p99"}
"""Percentiles of a stage over time that the page can show."""
HEAT_DAYS = 7
TOP = 20
ORDERS = {"revenue": "revenue at list prices in USD", "cost": "cost"}
"""Orders of the top tenants."""
FEWEST_FAILURES = 5
"""Failures from which on the share of them may stand out."""
KEPT_SECONDS = 60
"""Time for which the dearest questions of a span are kept: they are searched in all of its questions."""


@dataclass(frozen=True, slots=True)
class TopTenant:
    """A tenant of the span, by what it cost and earned. prices: list prices by currency."""

    id: Any
    name: str
    plan: str
    suspended: bool
    sums: Sums
    prices: list[tuple[str, Decimal]]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the heat map, as unfold's cohort table shows it."""

    value: str
    subtitle: str = ""
    color: str = "c-heat-0"


def overview(request: HttpRequest, now: datetime) -> dict[str, Any]:
    """Return the context of the page for the span that the request names. Money is read for who may see it alone."""
    days = request.GET.get("days", DEFAULT_SPAN)
    days = days if days in SPANS else DEFAULT_SPAN
    last = now.astimezone(UTC).date()
    first = last - timedelta(days=int(days) - 1)
    since = datetime.combine(first, datetime.min.time(), UTC)
    role = role_of(request)
    point = request.GET.get("point", "p50")
    point = point if point in POINTS else "p50"
    context: dict[str, Any] = {
        "spans": SPANS,
        "days": days,
        "points": POINTS,
        "point": point,
        "since": since,
        "ledger": f"{reverse('admin:billing_usageevent_changelist')}?{_between('occurred_at', first, last)}",
        "arrived": work.arrived(since),
        "queues": work.queues(),
        "failures": work.failures(now),
        "shows_money": role in MONEY,
        "shows_work": role in WORK,
    }
    if role in MONEY:
        order = request.GET.get("top", "revenue")
        context |= _money(first, last, order if order in ORDERS else "revenue")
    if role in WORK:
        context |= _work_links(context["failures"], first, last, now - timedelta(days=1))
        context["loads"] = _loads()
    return context | _latency(since, now, days, point, opens=role in WORK)


def _loads() -> list[dict[str, Any]]:
    """Return the tenants with the most open jobs now, with their names."""
    loads = work.loads(TOP)
    names = money.names_of([line["tenant_id"] for line in loads])
    return [{**line, **names[line["tenant_id"]]} for line in loads if line["tenant_id"] in names]


def _work_links(failures: Sequence[dict[str, Any]], first: date, last: date, day_ago: datetime) -> dict[str, Any]:
    """Return the links to lists of work, which other roles may not open. day_ago: since when failures are counted."""
    return {
        "videos_link": f"{reverse('admin:library_video_changelist')}?{_between('created_at', first, last)}",
        "questions_link": f"{reverse('admin:questions_question_changelist')}?{_between('created_at', first, last)}",
        "jobs_link": reverse("admin:jobs_job_changelist"),
        "answered_link": _ended("questions_question", "succeeded", "completed_at", first, last),
        "ready_link": _ended("library_video", "ready", "ready_at", first, last),
        "ended_link": f"{reverse('admin:questions_question_changelist')}?{_between('completed_at', first, last)}",
        "failed_questions_link": _ended("questions_question", "failed", "completed_at", first, last),
        "failed_videos_link": _ended("library_video", "failed", "failed_at", first, last),
        "failures": [{**line, "link": failure_link(line["kind"], line["code"], day_ago)} for line in failures],
    }


def _between(column: str, first: date, last: date) -> str:
    return urlencode({
        f"{column}_from_0": first.isoformat(), f"{column}_from_1": "00:00:00",
        f"{column}_to_0": last.isoformat(), f"{column}_to_1": "23:59:59",
    })  # fmt: skip


def _ended(listed: str, status: str, column: str, first: date, last: date) -> str:
    """Return the list of what came to this status in a span, out of which a chart of the page is made."""
    return f"{reverse(f'admin:{listed}_changelist')}?status__exact={status}&{_between(column, first, last)}"


def _kept(name: str, seconds: int, read: Callable[[], Any]) -> Any:
    """Return what was read at most so many seconds ago. Without Redis it is read each time: the page must not fail."""
    with suppress(RedisError):
        if (found := cache.get(name)) is not None:
            return found
    found = read()
    with suppress(RedisError):
        cache.set(name, found, seconds)
    return found


def _money(first: date, last: date, order: str) -> dict[str, Any]:
    spent = money.spending(first, last)
    by_cost = order == "cost"

    def rank(item: tuple[Any, Sums]) -> tuple[Decimal, Decimal]:
        return (-item[1].cost, -item[1].price) if by_cost else (-item[1].price, -item[1].cost)

    ordered = sorted(spent.by_tenant.items(), key=rank)[:TOP]
    names = money.names_of([tenant_id for tenant_id, _ in ordered])
    stages = sorted(spent.by_stage.items(), key=lambda item: -item[1].cost)
    return {
        "spent": spent,
        "money": spent.total,
        "uncounted_since": money.uncounted_since(),
        "machines": money.machines(first, last),
        "cost_days": f"{reverse('admin:billing_costday_changelist')}?"
        + urlencode({"day_from": first.isoformat(), "day_to": last.isoformat()}),
        "by_stage": [(stage, model, sums) for (stage, model), sums in stages if stage][:TOP],
        "overdue": billing.overdue(),
        "overdue_link": f"{reverse('admin:billing_invoice_changelist')}?overdue=yes",
        "orders": ORDERS,
        "order": order,
        "ordered_by": ORDERS[order],
        "by_day": money_chart(spent, first, last, link=_ledger_of_day),
        "stage_chart": stage_chart(spent),
        "tenants": [
            TopTenant(tenant_id, names[tenant_id]["name"], names[tenant_id]["plan"],
                      names[tenant_id]["suspended_at"] is not None, sums, spent.prices_of(tenant_id))
            for tenant_id, sums in ordered if tenant_id in names
        ],
    }  # fmt: skip


def _ledger_of_day(day: date) -> str:
    return f"{reverse('admin:billing_usageevent_changelist')}?{_between('occurred_at', day, day)}"


def money_chart(spent: Spending, first: date, last: date, *, link: Callable[[date], str] | None = None) -> Chart:
    """Return the list prices in USD and the cost of each day, with the days marked whose cost stands out.

    link: returns the list that a marked day opens.
    """
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    sums = [spent.by_day.get(day, Sums()) for day in days]
    unfinished = last == datetime.now(UTC).date()
    series = [
        Series("revenue", [float(line.price) for line in sums]),
        Series("cost", [float(line.cost) for line in sums]),
        Series("margin", [None if line.margin is None else float(line.margin) for line in sums]),
    ]
    return charts.lines(
        [f"{day:%-d %b}" for day in days],
        series,
        unit="USD",
        watched="cost",
        unfinished=unfinished,
        link=_at(days, link),
    )


def stage_chart(spent: Spending) -> Chart:
    """Return the cost of each stage, charged and wasted."""
    by_stage: dict[str, Sums] = {}
    for (stage, _), sums in spent.by_stage.items():
        if stage:
            known = by_stage.get(stage, Sums())
            by_stage[stage] = Sums(cost=known.cost + sums.cost, wasted=known.wasted + sums.wasted)
    ordered = sorted(by_stage.items(), key=lambda item: -item[1].cost)[:12]
    return charts.bars(
        [stage for stage, _ in ordered],
        [
            Series("used", [float(sums.cost - sums.wasted) for _, sums in ordered]),
            Series("wasted", [float(sums.wasted) for _, sums in ordered]),
        ],
        unit="USD",
    )


def _latency(since: datetime, now: datetime, days: str, point: str, *, opens: bool) -> dict[str, Any]:
    bucket = "hour" if int(days) <= HOURLY else "day"

    until = latency.built_until()
    questions = latency.times_of_all(TimesKind.QUESTION, since, now, bucket=bucket, until=until)
    indexing = latency.times_of_all(TimesKind.VIDEO, since, now, bucket=bucket, until=until)
    bands = feedback.calibration(since)
    heat_since = datetime.combine(now.astimezone(UTC).date() - timedelta(days=HEAT_DAYS - 1), datetime.min.time(), UTC)
    hours = (
        questions.ended
        if bucket == "hour" and since <= heat_since
        else latency.ended_of_all(TimesKind.QUESTION, heat_since, now, bucket="hour", until=until)
    )
    asked_link = _opener("questions_question", "completed_at", bucket) if opens else None
    ready_link = _opener("library_video", "ready_at", bucket) if opens else None
    failed_link = _opener("library_video", "failed_at", bucket) if opens else None
    times = _times(since, now, bucket)
    return {
        "question_volume": volume_chart(questions.ended, times, bucket, "questions", link=asked_link),
        "question_outcomes": outcomes_chart(work.outcomes(since, bucket=bucket), times, bucket),
        "question_errors": errors_chart(questions.ended, times, bucket, link=asked_link),
        "video_volume": volume_chart(indexing.ended, times, bucket, "videos", link=ready_link),
        "video_errors": errors_chart(indexing.ended, times, bucket, link=failed_link),
        "dearest": _dearest(since, days) if opens else [],
        "question_latency": questions.latency.stages,
        "question_lines": percentile_chart(questions.latency, times, bucket, unit="s", divisor=1_000, link=asked_link),
        "question_stages": stage_times_chart(
            questions.latency, times, bucket, point, unit="s", divisor=1_000, without=("llm", "service", "queue_wait")
        ),
        "index_latency": indexing.latency.stages,
        "index_lines": percentile_chart(
            indexing.latency, times, bucket, unit="s per minute", divisor=1_000, link=ready_link
        ),
        "index_stages": stage_times_chart(indexing.latency, times, bucket, point, unit="s per minute", divisor=1_000),
        "stages_note": POINTS[point],
        "index_stages_note": f"{POINTS[point]} of the work per minute of media",
        "stages_kind": "bar" if point == "p50" else "line",
        "heat": heat_map(hours, heat_since.date(), HEAT_DAYS, opens=opens),
        "bands": bands,
        "judged": sum(band.judged for band in bands),
        "right_percent": feedback.right_percent(bands),
    }


def _label(at: datetime, bucket: str) -> str:
    return f"{at:%-d %b %H:00}" if bucket == "hour" else f"{at:%-d %b}"


Link = Callable[[datetime], str] | None
"""Returns the list that a marked hour or day opens. None for who may not open lists."""


def _opener(listed: str, column: str, bucket: str) -> Callable[[datetime], str]:
    """Return the links to the lists of what ended in an hour or a day (UTC)."""
    address = reverse(f"admin:{listed}_changelist")

    def link(at: datetime) -> str:
        last = at + (timedelta(hours=1) if bucket == "hour" else timedelta(days=1)) - timedelta(seconds=1)
        span = {
            f"{column}_from_0": f"{at:%Y-%m-%d}", f"{column}_from_1": f"{at:%H:%M:%S}",
            f"{column}_to_0": f"{last:%Y-%m-%d}", f"{column}_to_1": f"{last:%H:%M:%S}",
        }  # fmt: skip
        return f"{address}?{urlencode(span)}"

    return link


def _at(times: Sequence[Moment], link: Callable[[Moment], str] | None) -> Callable[[int], str] | None:
    """Return the links by the position of their hour or day; None without links."""
    return (lambda n: link(times[n])) if link else None


def _times(since: datetime, now: datetime, bucket: str) -> list[datetime]:
    """Return the hours or days (UTC) from since on that have begun."""
    step = timedelta(hours=1) if bucket == "hour" else timedelta(days=1)
    return [since + n * step for n in range(1 + (now - since) // step)]


def volume_chart(
    ended: Sequence[dict[str, Any]], times: Sequence[datetime], bucket: str, name: str, *, link: Link = None
) -> Chart:
    """Return how many ended at each time, and how many of them failed, with the times marked that stand out."""
    found = {row["at"]: row for row in ended}
    series = [
        Series(name, [found[at]["n"] if at in found else 0 for at in times]),
        Series("failed", [found[at]["failed"] if at in found else 0 for at in times]),
    ]
    labels = [_label(at, bucket) for at in times]
    return charts.lines(labels, series, unit=name, watched=name, unfinished=True, link=_at(times, link), counts=True)


def outcomes_chart(found: Sequence[dict[str, Any]], times: Sequence[datetime], bucket: str) -> Chart:
    """Return how many questions ended in each way at each time."""
    by_time = {row["at"]: row for row in found}
    series = [
        Series(name, [by_time[at][name] if at in by_time else 0 for at in times])
        for name in ("answered", "abstained", "contradicted", "failed")
    ]
    return charts.bars([_label(at, bucket) for at in times], series, unit="questions")


def errors_chart(
    ended: Sequence[dict[str, Any]], times: Sequence[datetime], bucket: str, *, link: Link = None
) -> Chart:
    """Return the percentage that failed at each time, with the times marked whose percentage stands out."""
    found = {row["at"]: row for row in ended}
    rates = [round(100 * found[at]["failed"] / found[at]["n"], 2) if at in found else None for at in times]
    return charts.lines(
        [_label(at, bucket) for at in times],
        [Series("failed", rates)],
        unit="%",
        watched="failed",
        link=_at(times, link),
        enough=[at in found and found[at]["failed"] >= FEWEST_FAILURES for at in times],
    )


def _dearest(since: datetime, days: str) -> list[dict[str, Any]]:
    """Return the dearest questions of the span with the names of their tenants."""
    name = f"console:dearest:{days}:{since:%Y%m%d}"
    found: list[dict[str, Any]] = _kept(name, KEPT_SECONDS, lambda: latency.dearest_questions(since, 10))
    names = money.names_of([row["tenant_id"] for row in found])
    return [{**row, "tenant": names.get(row["tenant_id"], {}).get("name", "–")} for row in found]


def percentile_chart(
    measured: Latency, times: Sequence[datetime], bucket: str, *, unit: str, divisor: float, link: Link = None
) -> Chart:
    """Return p50, p95 and p99 of the whole at each time, with the times marked at which p95 stands out.

    A time without any work keeps its place and has no value.
    """
    series = [Series(name, _over(measured, times, WHOLE, name, divisor)) for name in POINTS]
    labels = [_label(at, bucket) for at in times]
    return charts.lines(labels, series, unit=unit, watched="p95", link=_at(times, link))


def _over(measured: Latency, times: Sequence[datetime], stage: str, point: str, divisor: float) -> list[float | None]:
    """Return a percentile of a stage at each time, in units of divisor milliseconds; None where none was measured."""
    lines = [measured.over_time.get(at, {}).get(stage) for at in times]
    return [None if line is None else round(getattr(line, point) / divisor, 3) for line in lines]


def stage_times_chart(
    measured: Latency,
    times: Sequence[datetime],
    bucket: str,
    point: str,
    *,
    unit: str,
    divisor: float,
    without: Sequence[str] = (),
) -> Chart:
    """Return a percentile of each stage at each time, of the longest stages of the span alone. point: one of POINTS.

    Medians are drawn on top of each other. High percentiles of stages belong to different work and add up to nothing,
    so they are lines.
    """
    stages = [line.stage for line in measured.stages if line.stage != WHOLE and line.stage not in without][:8]
    series = [Series(stage, _over(measured, times, stage, point, divisor)) for stage in stages]
    draw = charts.bars if point == "p50" else charts.lines
    return draw([_label(at, bucket) for at in times], series, unit=unit)


def heat_map(hours: Sequence[dict[str, Any]], first: date, days: int, *, opens: bool = False) -> dict[str, Any]:
    """Return the questions of each hour (UTC), coloured by their p95, as unfold's cohort table takes them.

    opens: each number leads to the list of these questions.
    """
    by_hour = {row["at"]: row for row in hours}
    highest = max((row["p95"] or 0.0 for row in hours), default=0.0)
    hour_link = _opener("questions_question", "completed_at", "hour")

    def cell(at: datetime) -> Cell:
        row = by_hour.get(at)
        if row is None:
            return Cell("")
        failed = f"{row['failed']} failed" if row["failed"] else ""
        took = "" if row["p95"] is None else f"{row['p95'] / 1_000:.1f} s"
        number = f"{row['n']}"
        shown = format_html('<a href="{}" aria-label="{}">{}</a>', hour_link(at), _hour_words(at, row), number)
        return Cell(shown if opens else number, failed or took, charts.heat(row["p95"], highest) or "c-heat-0")

    starts = [datetime.combine(first + timedelta(days=n), datetime.min.time(), UTC) for n in range(days)]
    return {
        "headers": [{"title": f"{hour:02d}"} for hour in range(24)],
        "rows": [
            {
                "header": {"title": f"{start:%a %-d %b}"},
                "cols": [cell(start + timedelta(hours=hour)) for hour in range(24)],
            }
            for start in starts
        ],
    }


def _hour_words(at: datetime, row: dict[str, Any]) -> str:
    return f"{row['n']} questions of {at:%-d %b %H}:00"


_PARTS = {"segment": ("library_video", "segment_error"), "webhook attempt": ("webhooks_delivery", "attempt_error")}
"""Lists of the rows that a failed part belongs to, and the filter by the part's code."""
_FAILED = {"video": ("library_video", "failed_at"), "question": ("questions_question", "completed_at")}
"""Lists of what failed itself, and the column of the moment."""


def failure_link(kind: str, code: str, since: datetime, **query: Any) -> str:
    """Return the list of the failures of a kind and code since a moment. query: further filters of the list."""
    at = since.astimezone(UTC)
    if kind in _PARTS:
        listed, parameter = _PARTS[kind]
        query = {parameter: f"{code} since {at.isoformat(timespec='seconds')}", **query}
    else:
        listed, column = _FAILED.get(kind, ("jobs_job", "completed_at"))
        shown = {"status__exact": "failed"} if kind in _FAILED else {"kind": kind.removeprefix("job ")}
        span = {f"{column}_from_0": f"{at:%Y-%m-%d}", f"{column}_from_1": f"{at:%H:%M:%S}"}
        query = {**shown, "error_code": code, **span, **query}
    return f"{reverse(f'admin:{listed}_changelist')}?{urlencode(query)}"
