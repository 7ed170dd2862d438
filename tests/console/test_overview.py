"""The overview: figures against hand-computed ones, failures by when they failed, and marks of what stands out."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connections
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing.models import CostDay, DayTotal, StaleDay, TenantDay, UsageDay, UsageEvent, UsageHour
from backend.billing.services.usage import rollups
from backend.billing.services.usage.day_totals import rebuild_stale_days
from backend.console.operation import charts
from backend.console.operation.anomalies import anomalies
from backend.console.operation.charts import Mark, Series
from backend.console.operation.overview import errors_chart, heat_map, percentile_chart, stage_times_chart, volume_chart
from backend.console.queries import latency, money, work
from backend.console.queries.latency import Latency, Percentiles, TimesOfAll
from backend.jobs.models import Job
from backend.library.indexing.control import retry_indexing
from backend.library.indexing.failure import fail_version
from backend.library.models import Segment, Video
from backend.questions.models import Question, TimesKind
from backend.questions.queries import stage_times
from backend.questions.services.stage_times import build_days
from tests.conftest import Cast
from tests.console.signing_in import open_content
from tests.factories import make_video
from tests.questions.world import ask, finish

NOON = datetime(2026, 3, 2, 12, 30, tzinfo=UTC)


def book(cast: Cast, at: datetime, cost: str, price: str, **values: Any) -> None:
    """Write one row of the ledger."""
    with cast.scope():
        UsageEvent.objects.create(
            tenant_id=cast.tenant_id,
            occurred_at=at,
            source_type="question",
            source_id=f"{at.isoformat()}:{cost}",
            cost_amount=Decimal(cost),
            price_amount=Decimal(price),
            **{"meter": "questions", "quantity": Decimal(1), **values},
        )


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    cache.clear()


def rebuild(cast: Cast) -> None:
    rollups.rebuild_stale(cast.tenant_id)


def test_the_sums_of_days_equal_the_ledger_after_any_rebuild(acme: Cast, globex: Cast) -> None:
    book(acme, NOON, "0.25", "1", stage="rank", model="m")
    book(acme, NOON + timedelta(hours=1), "0.5", "2", stage="rank", model="m")
    book(acme, NOON + timedelta(days=1), "0.1", "0", stage="rank", model="m", billable=False, meter="output_tokens")
    book(globex, NOON, "3", "4", price_currency="EUR", meter="media_seconds", quantity=Decimal(120))
    for cast in (acme, globex):
        rebuild(cast)
    book(acme, NOON, "0.125", "3", stage="rank", model="m")
    rebuild(acme)
    with acme.scope():
        rollups.rebuild(start=NOON - timedelta(days=2), end=NOON + timedelta(days=2))

    found = money.spending(NOON.date(), NOON.date() + timedelta(days=1))

    assert (found.total.cost, found.total.price, found.total.wasted) == (
        Decimal("3.975"), Decimal(6), Decimal("0.1"),
    )  # fmt: skip
    assert {day: sums.cost for day, sums in found.by_day.items()} == {
        date(2026, 3, 2): Decimal("3.875"), date(2026, 3, 3): Decimal("0.1"),
    }  # fmt: skip
    assert found.by_stage["rank", "m"].cost == Decimal("0.975")
    assert (found.by_currency["EUR"].price, found.by_currency["EUR"].media_seconds) == (Decimal(4), Decimal(120))
    assert found.by_tenant[acme.tenant_id].margin == Decimal("5.025")
    assert found.by_tenant[globex.tenant_id].margin is None, "costs are in USD, and its prices are in EUR"
    assert (found.total.margin, found.total.compared_cost) == (Decimal("5.025"), Decimal("0.975"))
    assert found.prices_of(globex.tenant_id) == [("EUR", Decimal(4))]
    assert money.spending(NOON.date(), NOON.date(), tenant_id=globex.tenant_id).total.cost == Decimal(3)


def test_the_totals_of_days_equal_the_tenants_days_before_and_after_they_are_rebuilt(acme: Cast, globex: Cast) -> None:
    def booked(cast: Cast, price: str, hours: int = 0) -> None:
        book(cast, NOON + timedelta(hours=hours), "0.25", price, stage="rank", model="m")
        rebuild(cast)

    def shown() -> tuple[Any, ...]:
        found = money.spending(NOON.date(), NOON.date())
        return found.total.price, found.by_day[NOON.date()].price, found.by_stage["rank", "m"].price, found.total.cost

    booked(acme, "1")
    booked(globex, "2")
    assert (shown()[:3], DayTotal.objects.filter(day=NOON.date()).count()) == ((3, 3, 3), 0), "out of stale days"
    assert rebuild_stale_days() >= 1
    assert shown()[:3] == (3, 3, 3)
    assert not StaleDay.objects.using("dispatch").exists()
    booked(globex, "4", hours=1)
    assert shown() == (7, 7, 7, Decimal("0.75")), "a row that is booked late is not missed"
    rebuild_stale_days()
    assert shown() == (7, 7, 7, Decimal("0.75"))
    with globex.scope():
        UsageHour.objects.all().delete()
        assert [(row.price, row.events) for row in TenantDay.objects.all()] == [(0, 0)]
    assert shown()[:3] == (1, 1, 1)
    assert (rebuild_stale_days(), shown()[:3]) == (1, (1, 1, 1))
    assert money.spending(NOON.date(), NOON.date()).by_tenant[acme.tenant_id].price == 1


def test_revenue_is_shown_in_its_currency_and_has_no_margin_over_costs_in_another(staff_as: Any, globex: Cast) -> None:
    book(globex, timezone.now(), "3", "4", price_currency="EUR")
    rebuild(globex)
    client = staff_as("finance")
    pages = {
        path: client.get(f"/console/{path}").content.decode()
        for path in ("", f"tenancy/tenant/{globex.tenant_id}/change/")
    }

    for path, page in pages.items():
        assert "4.00 EUR" in page, path
        assert "−$3.00" not in page, path
        assert "at list prices" in page, path


def test_a_page_shows_a_list_price_in_its_currency(staff_as: Any, acme: Cast) -> None:
    with acme.scope():
        video = make_video()
    book(acme, timezone.now(), "0.5", "4", price_currency="EUR", meter="media_seconds", video_id=video.id)
    client = staff_as("operator")
    open_content(client, acme)

    page = client.get(f"/console/library/video/{video.id}/change/").content.decode()

    assert page.count("4.00 EUR") == 3
    assert "$4.00" not in page


def test_the_sums_of_a_day_go_with_its_hours(acme: Cast) -> None:
    book(acme, NOON, "0.25", "1")
    rebuild(acme)
    with acme.scope():
        UsageHour.objects.all().delete()
        assert {(row.cost, row.events) for row in UsageDay.objects.all()} == {(Decimal(0), 0)}
        UsageDay.objects.all().delete()
        assert not UsageDay.objects.exists()


def test_a_failure_counts_when_it_happens_and_not_when_the_work_began(acme: Cast) -> None:
    now = timezone.now()
    with acme.scope():
        old, retried = make_video(), make_video()
        Video.objects.update(created_at=now - timedelta(hours=30))
        for video in (old, retried):
            fail_version(video_id=video.id, version=1, code="worker_lost", message="x")
        retry_indexing(video_id=retried.id)
        yesterday = make_video()
        fail_version(video_id=yesterday.id, version=1, code="too_long", message="x")
        Video.objects.filter(id=yesterday.id).update(failed_at=now - timedelta(hours=3))

    lines = {(line["kind"], line["code"]): (line["now"], line["n"]) for line in work.failures(timezone.now())}

    assert lines == {("video", "worker_lost"): (1, 1), ("video", "too_long"): (0, 1)}


def test_a_failure_that_rises_is_marked(staff: Client, acme: Cast) -> None:
    now = timezone.now()
    with acme.scope():
        for code, recent, earlier in (("worker_lost", 5, 30), ("too_long", 5, 60), ("time_limit", 4, 0)):
            for n in range(recent + earlier):
                fail_version(video_id=make_video(external_id=f"{code}{n}").id, version=1, code=code, message="x")
            older = Video.objects.filter(error_code=code).values_list("id", flat=True)[:earlier]
            Video.objects.filter(id__in=list(older)).update(failed_at=now - timedelta(hours=9))

    rising = {line["code"]: line["rising"] for line in work.failures(timezone.now())}

    # 30 in 23 hours are 1.3 an hour, 60 are 2.6.
    assert rising == {"worker_lost": True, "too_long": False, "time_limit": False}
    assert staff.get("/console/").content.decode().count(">rising <") == 1


def answered(cast: Cast, totals: Sequence[int], at: datetime | None = None) -> list[UUID]:
    """Have a tenant ask one question for each time to its answer in ms. at: when they ended, now by default."""
    made = []
    for total in totals:
        question_id, video_id = ask(cast, text=f"{total}?")
        finish(cast, question_id, video_id)
        with cast.scope():
            Question.objects.filter(id=question_id).update(
                timings={"total_ms": total, "search_ms": total // 2}, completed_at=at or timezone.now()
            )
        made.append(question_id)
    return made


def test_percentiles_and_hours_of_questions(acme: Cast) -> None:
    since = timezone.now() - timedelta(hours=1)
    answered(acme, (1_000, 2_000, 9_000), timezone.now())
    found = latency.times_of_all(TimesKind.QUESTION, since, timezone.now(), bucket="hour", until=None)
    own = latency.question_latency(since, bucket="hour", tenant_id=acme.tenant_id)

    for measured in (found.latency, own):
        whole, search = measured.stages
        assert (whole.stage, whole.n, whole.p50) == ("end to end", 3, 2_000)
        assert whole.p95 == pytest.approx(8_300)
        assert (search.stage, search.p50) == ("search", 1_000)
        assert sum(stages["end to end"].n for stages in measured.over_time.values()) == 3
    assert sum(row["n"] for row in found.ended) == 3
    with pytest.raises(ValueError, match="hours and days"):
        latency.times_of_all(TimesKind.QUESTION, since, timezone.now(), bucket="minute", until=None)


def test_days_that_are_over_are_read_from_their_sums_and_show_the_same(staff: Client, acme: Cast, globex: Cast) -> None:
    now = timezone.now().astimezone(UTC)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    since, early = today - timedelta(days=6), today - timedelta(days=3, hours=-5)
    old = answered(acme, (1_000, 2_000, 9_000), early)
    answered(globex, (4_000,), early + timedelta(hours=1))
    failed = answered(globex, (700,), today - timedelta(minutes=30))
    with globex.scope():
        Question.objects.filter(id__in=failed).update(status="failed")
    answered(acme, (3_000,), max(today, now - timedelta(minutes=1)))

    def shown(bucket: str) -> TimesOfAll:
        return latency.times_of_all(TimesKind.QUESTION, since, now, bucket=bucket, until=latency.built_until())

    live = {bucket: shown(bucket) for bucket in ("hour", "day")}
    assert build_days(today + timedelta(minutes=9)) > 90, "yesterday may still change"
    assert build_days(today + timedelta(minutes=10)) == 1
    assert build_days(today + timedelta(minutes=20)) == 0
    for bucket, before in live.items():
        after = shown(bucket)
        ended = latency.ended_of_all(TimesKind.QUESTION, since, now, bucket=bucket, until=latency.built_until())
        assert after.ended == before.ended == ended
        assert after.latency.over_time == before.latency.over_time
        for line, exact in zip(after.latency.stages, before.latency.stages, strict=True):
            assert (line.stage, line.n) == (exact.stage, exact.n)
            assert line.p50 == pytest.approx(exact.p50, rel=0.02)
    with acme.scope():
        Question.objects.filter(id__in=old).delete()
    assert shown("day").ended == live["day"].ended, "a day that is over stays as it was"
    assert [row["n"] for row in shown("day").ended] == [4, 1, 1]
    with CaptureQueriesContext(connections["console"]) as captured:
        assert staff.get("/console/?days=30").status_code == 200
    asked = [query["sql"] for query in captured.captured_queries if "jsonb_each_text(timings)" in query["sql"]]
    assert len(asked) == 1, "the heat map reads the time of no stage"
    assert f"{today:%Y-%m-%d}" in asked[0], "the rows of today alone are read"


def test_a_percentile_of_buckets_is_at_most_two_percent_away() -> None:
    times = [1.0, 3.0, 250.0, 1_000.0, 86_400_000.0]
    for n, ms in enumerate(times):
        share = n / (len(times) - 1)
        assert stage_times.percentile(Counter(map(stage_times.bucket_of, times)), share) == pytest.approx(ms, rel=0.02)
    assert stage_times.percentile({-1: 5}, 0.5) == 0
    assert stage_times.percentile({}, 0.5) == 0


@pytest.mark.parametrize(
    ("point", "note", "seconds"), [("p50", "median", 1.0), ("p95", "p95", 4.15), ("p99", "p99", 4.43)]
)
def test_stages_over_time_are_shown_by_the_percentile_that_is_chosen(
    staff: Client, acme: Cast, point: str, note: str, seconds: float
) -> None:
    answered(acme, (1_000, 2_000, 9_000))
    context: Any = staff.get(f"/console/?days=1&point={point}").context_data

    assert (context["stages_note"], context["stages_kind"]) == (note, "bar" if point == "p50" else "line")
    (search,) = json.loads(context["question_stages"].data)["datasets"]
    assert [value for value in search["data"] if value is not None] == [pytest.approx(seconds, abs=0.01)]
    assert context["point"] == point


def test_tenants_are_shown_by_their_open_jobs_to_those_who_run_the_service(staff_as: Any, acme: Cast) -> None:
    running, due, paused, ended = (ask(acme, text=f"{n}?")[0] for n in range(4))
    now = timezone.now()
    with acme.scope():
        Job.objects.filter(subject_id=running).update(state="running", lease_until=now + timedelta(minutes=1))
        Job.objects.filter(subject_id=due).update(not_before=now - timedelta(seconds=90))
        Job.objects.filter(subject_id=paused).update(paused_at=now)
        Job.objects.filter(subject_id=ended).update(state="succeeded", completed_at=now)

    client = staff_as("operator")
    (load,) = [line for line in client.get("/console/").context_data["loads"] if line["tenant_id"] == acme.tenant_id]

    opened = client.get(f"/console/jobs/job/?tenant={acme.tenant_id}&state=running").context_data["cl"]
    assert (load["running"], load["due"]) == (1, 1)
    assert len(opened.result_list) == load["running"]
    assert load["oldest_s"] >= 90
    assert "loads" not in staff_as("finance").get("/console/").context_data


def test_the_heat_map_has_a_cell_for_each_hour() -> None:
    hour = datetime(2026, 3, 2, 5, tzinfo=UTC)
    cells = heat_map([{"at": hour, "n": 4, "failed": 1, "p95": 2_000.0}], date(2026, 3, 1), 2)

    assert [row["header"]["title"] for row in cells["rows"]] == ["Sun 1 Mar", "Mon 2 Mar"]
    assert [len(row["cols"]) for row in cells["rows"]] == [24, 24]
    cell = cells["rows"][1]["cols"][5]
    assert (cell.value, cell.subtitle, cell.color) == ("4", "1 failed", "c-heat-5")


def test_values_that_stand_out_are_marked() -> None:
    assert anomalies([10, 11, 9, 10, 12, 10, 60, 11]) == [6]
    assert anomalies([10, 10, 10, 10, 10, 10.2]) == []
    assert anomalies([10, None, 10, 10, 10, 10, 10, 0]) == [7]
    assert anomalies([1, 1, 50]) == []
    questions = [5, 6, 5, 4, 5, 5, 6, 5, 4, 5, 30]
    assert anomalies(questions, counts=True) == [10], "counts of five vary by themselves"
    assert len(anomalies([5] * 30 + [4, 6, 5])) == 2, "other measures do not"
    assert anomalies([0] * 8 + [1, 2, 9], counts=True) == [10]


def test_the_page_draws_charts_and_links_its_figures(staff: Client, acme: Cast) -> None:
    now = timezone.now()
    for days in range(7):
        book(acme, now - timedelta(days=days), "9" if days == 3 else "0.5", "1", stage="rank", model="m")
    rebuild(acme)
    page = staff.get("/console/").content.decode()

    assert "$7.00" in page
    assert "$12.00" in page
    day = now - timedelta(days=3)
    (link,) = re.findall(rf'Stands out: <a href="([^"]+)">{day:%-d %b}</a>', page)
    assert f"occurred_at_from_0={day:%Y-%m-%d}" in link
    assert "/console/billing/usageevent/?occurred_at_from_0=" in page
    assert f"/console/tenancy/tenant/{acme.tenant_id}/change/" in page
    assert page.count('<canvas class="chart"') == 2


@pytest.mark.parametrize("role", ["support", "support_content"])
def test_who_may_not_see_money_sees_none(staff_as: Any, acme: Cast, role: str) -> None:
    book(acme, timezone.now(), "9", "17")
    rebuild(acme)
    page = staff_as(role).get("/console/").content.decode()

    assert "Failures now" in page
    assert "$17" not in page
    assert "Revenue" not in page


def test_queues_show_ages_and_dead_jobs_without_ended_ones(acme: Cast) -> None:
    ask(acme)
    ended, _ = ask(acme, text="Over?")
    dead, _ = ask(acme, text="Dead?")
    with acme.scope():
        Job.objects.filter(subject_id=ended).update(state="succeeded", completed_at=timezone.now())
        Job.objects.filter(subject_id=dead).update(state="dead", completed_at=timezone.now())

    line = next(line for line in work.queues() if line["queue"] == "gpu.query")

    assert (line["due"], line["running"], line["dead"]) == (1, 0, 1)
    assert line["oldest_s"] >= 0
    assert json.dumps([row["queue"] for row in work.queues()]).count("gpu.") == 2


def test_utilisation_is_attributed_over_paid_time(staff: Client) -> None:
    today = timezone.now().astimezone(UTC).date()
    assert money.machines(today, today) is None
    nothing = {"hosted_usd": 0, "waste_usd": 0, "video_hours": 0, "questions": 0}
    days = [(0, 1_000, 250, "3", None), (1, 3_000, 1_750, "5", "0.04")]
    for ago, paid, attributed, overhead, question in days:
        CostDay.objects.using("owner").create(
            day=today - timedelta(days=ago), paid_seconds=paid, attributed_seconds=attributed, paid_usd=0,
            overhead_seconds=paid - attributed, overhead_usd=overhead, attributed_usd=0, usd_per_question=question,
            **nothing,
        )  # fmt: skip

    found = money.machines(today - timedelta(days=6), today)

    assert found == money.Machines(50.0, Decimal(8), None, Decimal("0.04"))
    page = staff.get("/console/").content.decode()
    assert "50 %" in page
    assert "$8.00 of paid time was idle" in page


def test_each_chart_opens_the_rows_that_it_is_made_of(staff: Client, acme: Cast) -> None:
    answered, failed = (ask(acme, text=text) for text in ("was it answered?", "did it fail?"))
    finish(acme, *answered)
    with acme.scope():
        Question.objects.filter(id=failed[0]).update(status="failed", completed_at=timezone.now())
        ready, other = make_video(), make_video()
        Video.objects.filter(id=ready.id).update(status="ready", ready_at=timezone.now())
        Video.objects.filter(id=other.id).update(status="ready", ready_at=timezone.now() - timedelta(days=400))

    page = staff.get("/console/").content.decode()
    found = re.findall(r'href="([^"]+)" aria-label="What ([^"]+) is made of"', page)
    links = {name: html.unescape(link) for link, name in found}

    assert {"number of questions", "failed questions", "failed videos", "questions by stage"} <= set(links)
    opened = {name: staff.get(link).content.decode() for name, link in links.items()}
    for name, listed, left_out in (
        ("number of questions", failed, None), ("number of questions", answered, None),
        ("failed questions", failed, answered), ("questions by stage", answered, failed),
    ):  # fmt: skip
        assert f"/{listed[0]}/change/" in opened[name], name
        assert left_out is None or f"/{left_out[0]}/change/" not in opened[name], name
    others = {link for name, link in links.items() if "question" not in name and "failed" not in name}
    replies = [staff.get(link) for link in others]
    assert {reply.status_code for reply in replies} == {200}
    lists = "".join(reply.content.decode() for reply in replies)
    for id, is_listed in ((ready.id, True), (other.id, False)):
        assert (f"/{id}/change/" in lists) == is_listed


def test_figures_of_videos_and_failures_open_what_they_count(staff: Client, acme: Cast) -> None:
    now = timezone.now()
    with acme.scope():
        made, old, failed, cut, cut_before = (make_video() for _ in range(5))
        Video.objects.exclude(id=made.id).update(created_at=now - timedelta(days=100))
        for video, at in ((failed, now), (old, now - timedelta(days=3))):
            fail_version(video_id=video.id, version=1, code="worker_lost", message="x")
            Video.objects.filter(id=video.id).update(failed_at=at)
        for video, at in ((cut, now), (cut_before, now - timedelta(days=3))):
            Segment.objects.create(
                tenant_id=acme.tenant_id, video_id=video.id, index_version=1, n=0, start_ms=0, end_ms=30_000,
                state="failed", error_code="decoder_failed", observed_at=at,
            )  # fmt: skip
    page = html.unescape(staff.get("/console/").content.decode())
    (videos,) = set(re.findall(r'href="(/console/library/video/\?created_at[^"]+)"', page))
    (lost,) = re.findall(r'href="([^"]+)">worker_lost<', page)
    (segments,) = re.findall(r'href="([^"]+)">decoder_failed<', page)

    for link, listed, left_out in ((videos, made, old), (lost, failed, old), (segments, cut, cut_before)):
        shown = staff.get(link).content.decode()
        assert f"/{listed.id}/change/" in shown, link
        assert f"/{left_out.id}/change/" not in shown, link


def test_an_hour_of_the_heat_map_opens_its_questions(staff: Client, acme: Cast) -> None:
    within, before = (ask(acme, text=text) for text in ("within?", "before?"))
    for asked in (within, before):
        finish(acme, *asked)
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    with acme.scope():
        Question.objects.filter(id=within[0]).update(completed_at=hour + timedelta(seconds=1))
        Question.objects.filter(id=before[0]).update(completed_at=hour - timedelta(seconds=1))
    page = staff.get("/console/").content.decode()
    words = f"1 questions of {hour.astimezone(UTC):%-d %b %H}:00"
    (link,) = re.findall(rf'<a href="([^"]+)" aria-label="{words}">1</a>', page)
    listed = staff.get(html.unescape(link)).content.decode()
    assert f"/{within[0]}/change/" in listed
    assert f"/{before[0]}/change/" not in listed


def test_the_utilisation_opens_the_days_with_what_was_lost_and_idle(staff_as: Any, acme: Cast) -> None:
    today = timezone.now().date()
    CostDay.objects.using("owner").create(
        day=today, paid_seconds=7200, attributed_seconds=900, overhead_seconds=6300, lost_attempts=1, lost_seconds=200,
        paid_usd=10, attributed_usd=2, overhead_usd=8, lost_usd=3, hosted_usd=0, waste_usd=0, video_hours=0,
        questions=0,
    )  # fmt: skip
    page = staff_as("finance").get("/console/?days=7").content.decode()
    assert "at most $3.00 of it by 1 killed attempt" in page
    (link,) = set(re.findall(r'href="(/console/billing/costday/[^"]*)"', page)) - {"/console/billing/costday/"}
    days = staff_as("operator").get(html.unescape(link)).content.decode()
    for amount in ("$10.00", "$3.00", "$5.00"):
        assert amount in days, amount
    detail = staff_as("operator").get(f"/console/billing/costday/{today}/change/")
    assert detail.status_code == 200
    assert "at most lost by killed attempts" in detail.content.decode().lower()
    assert staff_as("support").get("/console/billing/costday/").status_code == 403


def test_the_overview_needs_no_cache(staff_as: Any, acme: Cast) -> None:
    operator = staff_as("operator")
    away = {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:9/0"}
    with override_settings(CACHES={"default": away}):
        assert operator.get("/console/?days=90").status_code == 200


def test_hours_with_many_failures_and_with_many_questions_stand_out() -> None:
    first = datetime(2026, 3, 1, tzinfo=UTC)
    times = [first + timedelta(hours=n) for n in range(8)]
    ended = [{"at": at, "n": 200 if n == 5 else 20, "failed": 8 if n == 3 else 0} for n, at in enumerate(times)]
    linked: list[datetime] = []

    def link(at: datetime) -> str:
        linked.append(at)
        return f"/{at:%H}"

    volume = volume_chart(ended, times, "hour", "questions", link=link)
    errors = errors_chart(ended, times, "hour", link=link)
    assert (volume.marks, errors.marks) == ((Mark("1 Mar 05:00", "/05"),), (Mark("1 Mar 03:00", "/03"),))
    assert linked == [times[5], times[3]], "an address is made for marks alone, and not for each hour of 90 days"
    few = [{**row, "failed": 4 if row["failed"] else 0} for row in ended]
    assert errors_chart(few, times, "hour").marks == (), "four failures are too few to stand out"
    assert volume_chart([], times, "hour", "questions").empty


def test_days_without_work_keep_their_place_in_charts_of_times() -> None:
    days = [datetime(2026, 3, 1 + n, tzinfo=UTC) for n in range(3)]
    measured = Latency([Percentiles("end to end", 2, 2_000, 3_000, 4_000), Percentiles("search", 2, 500, 600, 700)], {
        days[n]: {
            "end to end": Percentiles("end to end", 1, 1_000 * (n + 1), 3_000, 4_000),
            "search": Percentiles("search", 1, 500, 600, 700),
        }
        for n in (0, 2)
    })  # fmt: skip
    whole = json.loads(percentile_chart(measured, days, "day", unit="s", divisor=1_000).data)
    stages = json.loads(stage_times_chart(measured, days, "day", "p50", unit="s", divisor=1_000).data)

    assert whole["labels"] == stages["labels"] == ["1 Mar", "2 Mar", "3 Mar"]
    assert [line["data"] for line in whole["datasets"]] == [[1, None, 3], [3, None, 3], [4, None, 4]]
    assert [line["data"] for line in stages["datasets"]] == [[0.5, None, 0.5]]
    assert percentile_chart(Latency([], {}), days, "day", unit="s", divisor=1_000).empty


def test_tenants_are_ordered_by_cost_and_the_dearest_questions_are_named(
    staff_as: Any, acme: Cast, globex: Cast
) -> None:
    now = timezone.now()
    book(acme, now, "1", "9", stage="rank", model="m")
    book(globex, now, "5", "2", stage="rank", model="m")
    for cast in (acme, globex):
        rebuild(cast)
    dear = ask(acme, text="what is dear?")
    with acme.scope():
        Question.objects.filter(id=dear[0]).update(status="succeeded", completed_at=now, cost_amount=Decimal("3.5"))
    orders = {}
    for order in ("revenue", "cost"):
        page = staff_as("operator").get(f"/console/?days=1&top={order}").content.decode()
        top = page[page.index("Top tenants") : page.index("Dearest questions")]
        found = re.findall(r"/tenancy/tenant/([0-9a-f-]+)/change/", top)
        orders[order] = [UUID(id) for id in found if UUID(id) in (acme.tenant_id, globex.tenant_id)]
        assert f'<a href="/console/questions/question/{dear[0]}/change/">{encode("qst", dear[0])}</a>' in page
    assert orders == {"revenue": [acme.tenant_id, globex.tenant_id], "cost": [globex.tenant_id, acme.tenant_id]}
    assert "Dearest questions" not in staff_as("support").get("/console/?days=1").content.decode()


def test_a_chart_names_its_latest_marks_and_counts_the_earlier_ones() -> None:
    values: list[float | None] = [100.0 if n % 4 == 0 else 1.0 + n % 2 for n in range(80)]
    chart = charts.lines([str(n) for n in range(80)], [Series("p95", values)], unit="s", watched="p95")

    assert len(chart.marks) == 20
    assert [mark.label for mark in chart.latest_marks] == [str(n) for n in range(32, 80, 4)]
    assert chart.earlier_marks == 8
