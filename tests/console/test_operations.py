"""The page of operations: what waits, fails or is away now, and acts on all jobs with one error."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from uuid6 import uuid7

from backend.api.monitoring import broker, fleet_reports
from backend.api.public_ids import encode
from backend.console.operation.operations import ages_chart
from backend.console.queries import operations as queries
from backend.jobs import breakers
from backend.jobs.dispatching import CLASSES
from backend.jobs.models import Breaker, Job, JobKind, JobState, QueueAge
from backend.jobs.queue_ages import forget_old_ages, record_ages
from backend.jobs.services import enqueue
from backend.questions.models import Question
from backend.questions.services import questions
from backend.webhooks.models import Attempt, Delivery, Endpoint, WebhookEvent
from backend.webhooks.services import create_endpoint
from tests.conftest import Cast
from tests.console.signing_in import appointed, staff_events
from tests.factories import make_video
from tests.questions.world import ask

REASON = "Ticket 4711, the model is back"


def post(client: Client, **fields: Any) -> Any:
    return client.post("/console/operations/", {"reason": REASON, **fields}, follow=True)


def failed(cast: Cast, code: str) -> Any:
    question_id, _ = ask(cast)
    with cast.scope():
        Job.objects.filter(subject_id=question_id).update(
            state=JobState.DEAD, error_code=code, completed_at=timezone.now()
        )
        questions.fail_question(question_id=question_id, code=code, message="No model.")
    return question_id


def test_dead_jobs_of_two_tenants_are_replayed_by_their_error(staff: Client, acme: Cast, globex: Cast) -> None:
    away = [failed(cast, "model_unavailable") for cast in (acme, globex)]
    other = failed(acme, "worker_lost")
    page = staff.get("/console/operations/").content.decode()
    assert "model_unavailable" in page
    assert "Replay 2" in page
    refused = post(staff, act="Replay", queue="gpu.query", error_code="model_unavailable", reason="x")
    assert "at least 10 characters" in refused.text
    assert "Replay: 2 jobs." in post(staff, act="Replay", queue="gpu.query", error_code="model_unavailable").text
    states = dict(Question.unscoped.using("console").values_list("id", "status"))
    assert states == {away[0]: "queued", away[1]: "queued", other: "failed"}
    for cast in (acme, globex):
        with cast.scope():
            job = Job.objects.get(kind=JobKind.ANSWER_QUESTION, state=JobState.QUEUED)
        acts = [(event["action"], event["resource_id"], event["reason"]) for event in staff_events(cast)]
        assert acts == [("job.replay", encode("job", job.id), REASON)]
    assert REASON in staff.get("/console/operations/").content.decode()


def test_segments_that_block_are_skipped_and_nothing_else_is(staff: Client, acme: Cast) -> None:
    with acme.scope():
        video = make_video()
        observing, assembling = (
            enqueue(kind=kind, subject_id=uuid4(), video_id=video.id, dedupe_key=f"{kind}:{video.id}")
            for kind in (JobKind.OBSERVE_SEGMENT, JobKind.ASSEMBLE_VIDEO)
        )
        Job.objects.update(error_code="model_timeout", paused_at=timezone.now())
    asked = ask(acme)[0]
    page = post(staff, act="Skip", queue="gpu.index", error_code="model_timeout")

    assert "Skip: 1 jobs." in page.text
    assert "1 refused: Nothing can go on without the result of this job. Cancel it instead." in page.text
    with acme.scope():
        skipped, kept = Job.objects.get(id=observing.id), Job.objects.get(id=assembling.id)
        assert (skipped.deadline_at <= timezone.now(), skipped.paused_at) == (True, None)
        assert kept.paused_at is not None
        question = Job.objects.get(subject_id=asked)
    for job, offered in ((skipped, True), (kept, False), (question, False)):
        shown = staff.get(f"/console/jobs/job/{job.id}/change/").content.decode()
        assert ('value="skip"' in shown) is offered
    acts = [(event["action"], event["resource_id"], event["reason"]) for event in staff_events(acme)]
    assert ("job.skip", encode("job", observing.id), REASON) in acts


def test_open_jobs_with_an_error_are_canceled_together(staff: Client, acme: Cast) -> None:
    ids = [ask(acme)[0] for _ in range(3)]
    with acme.scope():
        Job.objects.filter(subject_id__in=ids[:2]).update(error_code="model_timeout")
    assert "Cancel: 2 jobs." in post(staff, act="Cancel", queue="gpu.query", error_code="model_timeout").text
    with acme.scope():
        states = {question.id: question.status for question in Question.objects.all()}
    assert [states[id] for id in ids] == ["canceled", "canceled", "queued"]


def test_it_shows_outages_workers_servers_and_failing_endpoints(staff: Client, acme: Cast) -> None:
    breakers.opened("describer", code="model_unavailable", message="no answer")
    with acme.scope():
        endpoint, _ = create_endpoint(url="https://example.com/hook")
        Endpoint.objects.update(state="auto_disabled", dead_deliveries=5)
        of_tenant, now = {"tenant_id": acme.tenant_id}, timezone.now()
        for n, status in enumerate((200, 503), start=1):
            event = WebhookEvent.objects.create(**of_tenant, type="video.ready", body="{}", resource_id=uuid7())
            delivery = Delivery.objects.create(
                **of_tenant, event=event, endpoint_id=endpoint.id, endpoint_sequence=n, attempts=1, expires_at=now
            )
            Attempt.objects.create(
                **of_tenant, delivery=delivery, n=1, status_code=status, error_code="http_error" if status > 200 else ""
            )
    fleet_reports.publish(fleet_reports.WORKERS, "gpu@one", {"processes": {"ready": 2}, "queues": ["gpu.index"]})
    fleet_reports.publish(
        fleet_reports.SERVERS, "vlm", {"answers": True, "ModelRequestsWaiting": 3.0, "tokens_per_second": 1234.5,
            "last_error": "ReadTimeout", "last_error_at": time.time()},
    )  # fmt: skip
    page = staff.get("/console/operations/").content.decode()
    for words in ("describer", "no answer", "gpu@one", "2 ready", "vlm", "1,234", str(endpoint.id), "auto disabled",
                  "503 http_error", "ReadTimeout"):  # fmt: skip
        assert words in page, words
    # Where a customer's webhooks go is content, which this page does not show.
    assert "example.com" not in page


def test_a_dependency_that_was_never_away_can_be_held(staff: Client) -> None:
    assert "Choose a dependency" in post(staff, act="hold", dependency="weather", hours="1").text
    assert "are held" in post(staff, act="hold", dependency="reasoner", hours="3").text
    row = Breaker.objects.using("dispatch").get()
    assert (row.dependency, row.state, row.error_code) == ("reasoner", "open", "held_by_operator")


def test_roles(staff: Client, acme: Cast) -> None:
    away = failed(acme, "model_unavailable")
    support = appointed("support")
    page = support.get("/console/operations/")
    assert page.status_code == 200
    assert "Replay" not in page.content.decode()
    assert post(support, act="Replay", queue="gpu.query", error_code="model_unavailable").status_code == 403
    assert appointed("finance").get("/console/operations/").status_code == 403
    with acme.scope():
        assert Question.objects.get(id=away).status == "failed"


def test_a_report_is_forgotten_after_a_while(database: None) -> None:
    fleet_reports.publish(fleet_reports.WORKERS, "old", {"queues": []}, now=1_000.0)
    fleet_reports.publish(fleet_reports.WORKERS, "new", {"queues": []}, now=1_850.0)
    found = fleet_reports.reports(fleet_reports.WORKERS, now=1_915.0)
    assert [(row["name"], row["age_seconds"], row["stale"]) for row in found] == [("new", 65, True)]


@pytest.fixture(autouse=True)
def _no_reports(database: None) -> Any:
    yield
    with broker.connect() as client:
        client.delete(fleet_reports.WORKERS, fleet_reports.SERVERS)


def test_the_page_of_the_alarms_names_every_alarm() -> None:
    root = Path(__file__).parents[2]
    alarms = re.findall(r"- alert: (\w+)", (root / "infra" / "observability" / "alerts.yml").read_text())
    rows = re.findall(r"^\| (\w+) \| (?:page|ticket) \|", (root / "docs" / "operations.md").read_text(), re.M)
    assert alarms
    assert sorted(rows) == sorted(alarms)


def test_the_age_of_the_queues_is_drawn_by_class_and_quarter(staff: Client, acme: Cast) -> None:
    now = datetime(2026, 3, 1, 12, 40, tzinfo=UTC)
    quarter = now.replace(minute=30)
    found = [
        {"queue": "gpu.query", "at": quarter - timedelta(hours=2), "oldest_s": 90.0},
        {"queue": "gpu.query", "at": quarter, "oldest_s": 600.0},
        {"queue": "cpu.probe", "at": quarter, "oldest_s": 3.0},
        {"queue": "gpu.index", "at": quarter, "oldest_s": 0.0},
    ]
    drawn = json.loads(ages_chart(found, now).data)
    assert (drawn["labels"][0], drawn["labels"][-1], len(drawn["labels"])) == ("12:30", "12:30", 97)
    assert {row["label"]: [value for value in row["data"] if value is not None] for row in drawn["datasets"]} == {
        "cpu.probe": [0.05], "gpu.query": [1.5, 10.0],
    }  # fmt: skip


def test_a_queue_that_stands_still_shows_its_age(staff: Client, acme: Cast) -> None:
    ask(acme)
    with acme.scope():
        Job.objects.update(not_before=timezone.now() - timedelta(minutes=90))

    record_ages()
    with acme.scope():
        Job.objects.update(not_before=timezone.now() - timedelta(minutes=5))
    record_ages()

    ages = queries.ages(timezone.now() - timedelta(hours=1))
    assert {row["queue"] for row in ages} == set(CLASSES)
    assert {row["queue"] for row in ages if row["oldest_s"] >= 60} == {"gpu.query"}
    assert max(row["oldest_s"] for row in ages) // 60 == 90, "the minute keeps the higher age"
    assert re.search(r"gpu\.query: [0-9.]+ to 90[0-9.]* minutes", staff.get("/console/operations/").content.decode())


def test_ages_are_forgotten_after_seven_days(database: None) -> None:
    for age in (timedelta(days=6, hours=23), timedelta(days=7, minutes=1)):
        QueueAge.objects.using("dispatch").create(at=timezone.now() - age, queue="gpu.query", oldest_s=1)

    assert forget_old_ages() == 1
    assert QueueAge.objects.get().at > timezone.now() - timedelta(days=7)


def facts_of_relays(staff: Client) -> tuple[str, ...]:
    """Return what the page says about the oldest bell that was not rung, and about the oldest late wake-up."""
    page = staff.get("/console/operations/").content.decode()
    found = re.search(r"not rung</dt><dd>(.*?)</dd><dt>oldest wake-up that is late</dt><dd>(.*?)</dd>", page)
    assert found is not None
    return tuple(re.sub("<[^>]+>", "", text) for text in found.groups())


def test_the_page_shows_the_relays_and_what_they_leave_undone(staff: Client, acme: Cast) -> None:
    with broker.connect() as client:
        client.delete(fleet_reports.RELAYS)
    ask(acme)
    with acme.scope():
        Job.objects.update(not_before=timezone.now() - timedelta(minutes=5))
    assert facts_of_relays(staff) == ("5.0 min", "none"), "no relay has ever reported"

    fleet_reports.publish(fleet_reports.RELAYS, "relay-1:7", {})
    assert facts_of_relays(staff) == ("none", "none")
    assert "relay-1:7" in staff.get("/console/operations/").content.decode()

    fleet_reports.publish(fleet_reports.RELAYS, "relay-1:7", {}, now=time.time() - 120)
    assert facts_of_relays(staff) == ("none", "none"), "the bell of this job was rung before the relay fell silent"
    with acme.scope():
        Job.objects.update(not_before=timezone.now() - timedelta(seconds=100))
    assert facts_of_relays(staff)[0].startswith("100.")
    assert "silent" in staff.get("/console/operations/").content.decode()
    with acme.scope():
        Job.objects.update(due=False, not_before=timezone.now() - timedelta(minutes=3))
    assert facts_of_relays(staff) == ("none", "3.0 min")
