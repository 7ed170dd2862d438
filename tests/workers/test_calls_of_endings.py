"""However an attempt ends, the ledger holds every call that the model server saw, as work or as waste, and once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from uuid import uuid4

import pytest
from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings

from backend.billing import queries
from backend.billing.models import ModelCall, UsageEvent
from backend.billing.services.usage.ledger import record_model_calls
from backend.jobs import services
from backend.jobs.dispatching import claim_next
from backend.jobs.models import Job, JobKind
from backend.jobs.services import JobFailed, LeaseLost, Unavailable
from backend.library.storage import StorageDenied
from gpu_workers.engine.models.roles import ChatCapabilities, Message, Meter, ModelError
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.transport import RetryPolicy
from tests.conftest import Cast
from tests.scripted_openai import Fault, Reply, ScriptedOpenAIServer
from workers import runner
from workers.runner import Work, run_leased

Ending = Callable[[Work, Meter], None]


def record(work: Work, meter: Meter) -> None:
    """Record the calls as work, and complete the job."""

    def write() -> None:
        record_model_calls(source_type="observe", source_id=work.lease.subject_id, calls=work.bill(meter))
        work.complete()

    work.commit(write)


def leave(work: Work, meter: Meter) -> None:
    """Complete the job without use of its work, as for a version that was replaced meanwhile."""
    work.commit(work.complete)


def raising(error: Exception) -> Ending:
    def end(work: Work, meter: Meter) -> None:
        raise error

    return end


def fail_in_commit(work: Work, meter: Meter) -> None:
    def write() -> None:
        record_model_calls(source_type="observe", source_id=work.lease.subject_id, calls=work.bill(meter))
        raise RuntimeError("the database refuses a row")

    work.commit(write)


def look_until_late(work: Work, meter: Meter) -> None:
    """Work until the heartbeat says that it takes too long, as in a pool of threads."""
    assert work.lost.wait(timeout=60)
    work.require_lease()


ENDINGS: dict[str, tuple[Ending, str]] = {
    "recorded": (record, "observe"),
    "unused": (leave, "wasted_attempt"),
    "unreadable": (raising(JobFailed("source_unreadable", "no frames", retryable=False)), "wasted_attempt"),
    "to retry": (raising(JobFailed("model_bad_reply", "half a reply", retryable=True)), "wasted_attempt"),
    "away": (raising(Unavailable("describer", "model_unavailable", "away")), "wasted_attempt"),
    "storage denied": (raising(StorageDenied("no")), "wasted_attempt"),
    "lease lost": (raising(LeaseLost("another worker has it")), "wasted_attempt"),
    "too long": (raising(SoftTimeLimitExceeded()), "wasted_attempt"),
    "asked to stop": (look_until_late, "wasted_attempt"),
    "unforeseen": (raising(ZeroDivisionError("by zero")), "wasted_attempt"),
    "rolled back": (fail_in_commit, "wasted_attempt"),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_ledger_holds_every_call_that_the_server_saw(
    acme: Cast, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    end, source_type = ENDINGS[ending]
    if end is look_until_late:
        monkeypatch.setattr(runner, "CLAIM_SECONDS", -settings.TASK_SECONDS)
        monkeypatch.setattr(settings, "HEARTBEAT_SECONDS", 0.1)
    # Answered, refused by the server, cut in the middle, and answered after that.
    script = [Reply("yes", prompt_tokens=100), Fault(status=400), Fault(half_body=True), Reply("yes", prompt_tokens=40)]
    with ScriptedOpenAIServer(script) as server:
        model = OpenAIChatModel(
            base_url=server.url,
            model="scripted",
            capabilities=ChatCapabilities(8_192),
            retry=RetryPolicy(attempts=2, base_s=0.001),
        )

        def handle(work: Work) -> None:
            meter = work.meter()
            for _ in range(3):
                with suppress(ModelError):
                    model.sample([Message("user", ("What is seen?",))], stage="description", meter=meter)
            end(work, meter)

        module = ModuleType("tests.ending_handler")
        module.handle = handle  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(runner.HANDLERS, JobKind.OBSERVE_SEGMENT, module.__name__)
        subject = uuid4()
        with acme.scope():
            services.enqueue(kind=JobKind.OBSERVE_SEGMENT, subject_id=subject, dedupe_key=f"observe:{subject}")
        lease = claim_next("gpu.index", worker="w")
        assert lease is not None
        run_leased(lease, worker="w")
        seen = len(server.requests)
    with acme.scope():
        if end is look_until_late:
            job = Job.objects.get(subject_id=subject)
            assert (job.state, job.attempt, job.error_code) == ("queued", 1, "time_limit")
        rows = list(ModelCall.objects.order_by("ordinal"))
        assert len(rows) == seen == 4
        assert {row.source_type for row in rows} == {source_type}
        assert [row.ok for row in rows] == [True, False, False, True]
        # A refused request used nothing, and the cut one what the server had to read.
        assert [row.prompt_tokens for row in rows] == [100, 0, len("What is seen?") // 4, 40]
        assert queries.mismatches() == []
        billed = UsageEvent.objects.filter(billable=True, meter="input_tokens").values_list("quantity", flat=True)
        assert sum(billed) == (140 if source_type == "observe" else 0)
        assert not UsageEvent.objects.exclude(price_amount=0).exists()
