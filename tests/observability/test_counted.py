"""What requests, jobs and model calls count, read from the registry before and after."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from uuid import uuid4

import pytest
from prometheus_client import REGISTRY

from backend.jobs import services
from backend.jobs.dispatching import claim_next
from backend.jobs.models import Job, JobKind
from backend.jobs.services import JobFailed, Unavailable
from backend.observability import metrics
from backend.webhooks import services as endpoints
from gpu_workers.engine.answering.budget import BranchMeter
from gpu_workers.engine.models.roles import Meter, ModelCall
from tests.conftest import Cast
from tests.webhooks.receiver import hanging, receiving
from tests.webhooks.sending import sending, until
from workers import runner
from workers.metrics.queue_gauges import QueueGauges
from workers.runner import Work
from workers.webhooks import webhook_sender

pytestmark = pytest.mark.usefixtures("database")


class Counted:
    """The growth of samples since the beginning of a test."""

    def __init__(self) -> None:
        self._before = self._now()

    def __call__(self, name: str, **labels: str) -> float:
        key = (name, frozenset(labels.items()))
        return self._now().get(key, 0.0) - self._before.get(key, 0.0)

    @staticmethod
    def _now() -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        return {(s.name, frozenset(s.labels.items())): s.value for family in REGISTRY.collect() for s in family.samples}


@pytest.fixture
def counted() -> Counted:
    return Counted()


def finish(work: Work) -> None:
    work.finish()


def cancel(work: Work) -> None:
    with work.checkpoint():
        services.request_cancel(dedupe_key=Job.objects.get(id=work.lease.job_id).dedupe_key)
    work.finish()


def away(work: Work) -> None:
    raise Unavailable("storage", "storage_unavailable", "no answer")


def unlucky(work: Work) -> None:
    raise JobFailed("model_timeout", "too late", retryable=True)


def hopeless(work: Work) -> None:
    raise JobFailed("bad_file", "no video", retryable=False)


@pytest.mark.parametrize(
    ("handle", "attempts", "outcome"),
    [
        (finish, 5, "succeeded"), (cancel, 5, "canceled"), (away, 5, "outage"), (unlucky, 5, "queued"),
        (unlucky, 1, "dead"), (hopeless, 5, "failed"),
    ],
)  # fmt: skip
def test_each_attempt_counts_once_by_its_outcome(
    acme: Cast,
    counted: Counted,
    monkeypatch: pytest.MonkeyPatch,
    handle: Callable[[Work], None],
    attempts: int,
    outcome: str,
) -> None:
    monkeypatch.setattr(runner, "import_module", lambda name: SimpleNamespace(handle=handle))
    with acme.scope():
        services.enqueue(kind=JobKind.PROBE_VIDEO, subject_id=uuid4(), dedupe_key=f"p:{uuid4()}", max_attempts=attempts)
    lease = claim_next("cpu.probe", worker="w")
    assert lease is not None
    runner.run_leased(lease, worker="w")

    assert counted("ava_job_claims_total", queue="cpu.probe", kind="probe_video", how="next") == 1
    grown = {
        one: counted("ava_job_seconds_count", kind="probe_video", outcome=one)
        for one in ("succeeded", "canceled", "outage", "queued", "dead", "failed", "lost")
    }
    assert grown == {one: float(one == outcome) for one in grown}
    assert counted("ava_job_outages_total", dependency="storage") == (outcome == "outage")
    assert counted("ava_jobs_dead_total", kind="probe_video") == (outcome == "dead")


def test_a_lease_that_expired_is_claimed_as_such(acme: Cast, counted: Counted) -> None:
    with acme.scope():
        job = services.enqueue(kind=JobKind.PROBE_VIDEO, subject_id=uuid4(), dedupe_key=f"p:{uuid4()}")
    assert claim_next("cpu.probe", worker="killed") is not None
    with acme.scope():
        Job.objects.filter(id=job.id).update(lease_until="2000-01-01T00:00Z")
    assert claim_next("cpu.probe", worker="other") is not None

    assert counted("ava_job_claims_total", queue="cpu.probe", kind="probe_video", how="next") == 1
    assert counted("ava_job_claims_total", queue="cpu.probe", kind="probe_video", how="expired") == 1


def test_a_relay_shows_depth_age_and_outages(acme: Cast) -> None:
    with acme.scope():
        jobs = [
            services.enqueue(kind=JobKind.PROBE_VIDEO, subject_id=uuid4(), dedupe_key=f"p:{uuid4()}") for _ in range(3)
        ]
        Job.objects.filter(id=jobs[0].id).update(not_before="2020-01-01T00:00Z")
    assert claim_next("cpu.probe", worker="w") is not None
    from backend.jobs import breakers

    breakers.opened("describer", code="model_unavailable", message="HTTP 503")

    shown = {
        (s.name, *s.labels.values()): s.value for family in QueueGauges().collect() for s in family.samples
    }  # fmt: skip
    assert shown["ava_database_up",] == 1
    assert (shown["ava_queue_jobs", "cpu.probe", "due"], shown["ava_queue_jobs", "cpu.probe", "running"]) == (2, 1)
    assert shown["ava_queue_oldest_seconds", "gpu.query"] == 0
    assert shown["ava_dependency_away", "describer"] == 1


def test_a_request_counts_by_its_route_and_never_by_an_id(acme: Cast, counted: Counted) -> None:
    acme.client.get("/v1/videos/vid_unknown")
    acme.client.get("/v1/videos/vid_other")
    acme.client.generic("BREW", "/v1/videos")
    acme.client.get("/nowhere/vid_x")

    labels = {"method": "GET", "route": "/v1/videos/<str:video_id>", "status": "404"}
    assert counted("ava_http_request_seconds_count", **labels) == 2
    assert counted("ava_http_request_seconds_count", method="OTHER", route="/v1/videos", status="405") == 1
    assert counted("ava_http_request_seconds_count", method="GET", route="unmatched", status="404") == 1


def test_a_model_call_counts_once_through_all_meters(counted: Counted) -> None:
    call = ModelCall("answer", "qwen", 1_500, prompt_tokens=100, cached_tokens=60, completion_tokens=20)
    meter = Meter()
    branch = BranchMeter(meter)
    branch.record(call)

    assert (meter.calls, branch.calls) == ((call,), (call,))
    labels = {"stage": "answer", "model": "qwen", "ok": "true"}
    assert counted("ava_model_call_seconds_count", **labels) == 1
    assert counted("ava_model_call_seconds_sum", **labels) == 1.5
    tokens = {one: counted("ava_model_tokens_total", model="qwen", direction=one) for one in ("prompt", "cached")}
    assert tokens == {"prompt": 100, "cached": 60}
    assert counted("ava_model_tokens_total", model="qwen", direction="completion") == 20


def test_webhooks_count_by_their_outcome_and_a_sender_that_stops_hands_back(
    acme: Cast, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_sender, "DRAIN_SECONDS", 0.05)
    with receiving() as receiver, hanging() as (url, opened):
        with acme.scope():
            for target in (receiver.url, "http://127.0.0.1:9/"):
                endpoint, _ = endpoints.create_endpoint(url=target)
                endpoints.send_test(endpoint=endpoint)
            slow, _ = endpoints.create_endpoint(url=url)
            endpoints.send_test(endpoint=slow)
        with sending():
            until(lambda: len(opened) == 1)
            until(lambda: counted("ava_webhook_attempts_total", outcome="connection_failed") == 1)
            until(lambda: counted("ava_webhook_attempts_total", outcome="delivered") == 1)

    assert counted("ava_webhook_lag_seconds_count") == 1
    assert counted("ava_job_seconds_count", kind="deliver_webhook", outcome="succeeded") == 2
    assert counted("ava_job_seconds_count", kind="deliver_webhook", outcome="released") == 1


def test_gaps_are_a_part_of_the_chunks(counted: Counted) -> None:
    metrics.count_gaps([None, None, "model_refused", None])

    assert counted("ava_chunks_total") == 4
    assert counted("ava_chunk_gaps_total", code="model_refused") == 1
