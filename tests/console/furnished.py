"""An installation as staff meet it: two busy tenants, and one of them with something on every page of the console."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

from django.utils import timezone
from uuid6 import uuid7

from backend.api.monitoring import fleet_reports
from backend.api.monitoring.recent_requests import RECORDER, Seen
from backend.api.public_ids import encode
from backend.billing.models import (
    SEGMENT,
    BillingAccount,
    Coupon,
    ExportState,
    InvariantResult,
    MachineDay,
    Plan,
    TenantBudget,
)
from backend.billing.services.credit.credit_grants import grant_credit
from backend.billing.services.machines.device_time import append_rate
from backend.billing.services.machines.reconciliation import reconcile_day
from backend.billing.services.usage import ledger
from backend.ekg.models import Chunk, TrackedObject, TranscriptLine
from backend.ekg.writer import VersionWriter
from backend.jobs import breakers
from backend.jobs.models import Job, JobState
from backend.library.models import IndexVersion, Segment, Video
from backend.library.storage import ObjectStorage
from backend.playback.services import renditions
from backend.questions.models import Evidence
from backend.questions.queries.searches import FoundEvent, Match, Reason, ScoreReport
from backend.questions.services import questions, searches
from backend.questions.services.again import ask_again
from backend.tenancy.models import Tenant
from backend.webhooks.models import Attempt, Delivery, Endpoint
from backend.webhooks.services import create_endpoint, send_test
from bench.seed_load import seed
from gpu_workers.engine.answering.contract import CandidateRecord, CitationRecord, NodeEvent, NodeRecord, Usage
from gpu_workers.engine.models.device_rates import DeviceRate
from gpu_workers.engine.models.roles import ModelCall
from infra.local import ffmpeg
from tests.billing.invoices.ledger import close, use
from tests.conftest import Cast, superuser_url
from tests.factories import FRAME_MODEL, TEXT_MODEL, event_record, make_video, segment_record
from tests.people.cast import invitation_of, member_of, person
from tests.questions import graded
from tests.questions.world import EVENT, answer
from tests.tasks.world import RENDERING, run_due

MINUTES = 4
"""Length of the recording that the furnished tenant has indexed."""
_CALLS = (
    ModelCall("rewrite", "qwen2.5-vl-7b", wall_ms=640, prompt_tokens=410, cached_tokens=120, completion_tokens=64),
    ModelCall("embedding", "bge-small-en", wall_ms=22, items=4),
    ModelCall("answer", "qwen2.5-vl-7b", wall_ms=2_450, prompt_tokens=6_210, cached_tokens=2_048, completion_tokens=310,
              pictures=12),
    ModelCall("answer", "qwen2.5-vl-7b", wall_ms=1_900, prompt_tokens=5_730, completion_tokens=280, ok=False),
)  # fmt: skip


def furnish(acme: Cast, *, scale: float = 0.002) -> dict[str, Any]:
    """Write it all, times the scale of bench.seed_load. Returns ids by what they name."""
    seed(superuser_url(), scale)
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(
            name="Acme Traffic", notice_email="ops@acme.example", created_at=timezone.now() - timedelta(days=120)
        )
    video = _video(acme)
    return {
        "tenant": acme.tenant_id,
        **video,
        **_questions(acme, video["video"]),
        "search": _search(acme, video["video"]),
        **_comparison(acme),
        **_failures(acme),
        **_money(acme),
        "member": _people(acme),
    }


@cache
def film() -> bytes:
    """Return a recording with sound that Chromium plays."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "film.mp4"
        command = [str(ffmpeg.ffmpeg()), "-nostdin", "-v", "error"]
        picture = ["-f", "lavfi", "-i", f"testsrc=duration={60 * MINUTES}:rate=1:size=320x180"]
        sound = ["-f", "lavfi", "-i", f"sine=f=220:d={60 * MINUTES}"]
        codecs = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-preset", "ultrafast", "-c:a", "aac", "-shortest"]
        subprocess.run([*command, *picture, *sound, *codecs, "-movflags", "+faststart", str(file)], check=True)
        return file.read_bytes()


@cache
def frame() -> bytes:
    """Return a picture of a recording as JPEG."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "frame.jpg"
        source = ["-f", "lavfi", "-i", "testsrc=duration=1:rate=1:size=320x180"]
        subprocess.run(
            [str(ffmpeg.ffmpeg()), "-nostdin", "-v", "error", *source, "-frames:v", "1", str(file)], check=True
        )
        return file.read_bytes()


def _video(cast: Cast) -> dict[str, Any]:
    storage, end = ObjectStorage(), 60_000 * MINUTES
    with cast.scope():
        video = make_video(
            status="ready", indexed_until_ms=end, duration_ms=end, title="Gate 7, Monday morning", width=1920,
            height=1080, fps=25.0, container="mov", codec="h264", has_audio=True, external_id="cam-7/2026-03-02",
        )  # fmt: skip
        storage.put(video.object_key, film(), content_type="video/mp4")
        now = timezone.now()
        Video.objects.filter(id=video.id).update(
            size_bytes=734_003_200, index_started_at=now - timedelta(minutes=9), ready_at=now,
            stage_ms={"describe_ms": 61_000, "embed_ms": 8_200, "detect_ms": 12_400, "transcribe_ms": 15_100,
                      "entities_ms": 22_700},
        )  # fmt: skip
        of_version = {"tenant_id": cast.tenant_id, "video_id": video.id, "index_version": 1}
        writer = VersionWriter(video.id, 1, text_model=TEXT_MODEL, frame_model=FRAME_MODEL)
        for n in range(MINUTES):
            start = 60_000 * n
            Segment.objects.create(
                **of_version, n=n, start_ms=start, end_ms=start + 60_000, state="assembled", observed_at=now,
                assembled_at=now, stage_ms={"describe_ms": 15_000 + 900 * n, "embed_ms": 2_000, "detect_ms": 3_100},
            )  # fmt: skip
            record = segment_record(start, start + 60_000)
            writer.store_segment(n, record, thumbnail_keys={row.ms: f"k/{row.ms}" for row in record.frames})
        IndexVersion.objects.filter(video_id=video.id).update(state="ready", indexed_until_ms=end, ready_at=now)
        for row in Segment.objects.filter(video_id=video.id):
            calls = [ModelCall("describe", "qwen2.5-vl-7b", 14_200, prompt_tokens=9_100, completion_tokens=640)]
            ledger.record_model_calls(source_type=SEGMENT, source_id=row.id, video_id=video.id, calls=calls)
        guard, driver, lorry = "guard in a yellow vest", "lorry driver", "white lorry"
        seen = [
            (0, 8, (guard,), ()), (8, 21, (guard, driver), ((driver, "talks to", guard),)),
            (21, 40, (driver, lorry), ((driver, "enters", lorry),)), (40, 58, (lorry,), ()),
            (58, 80, (guard, "cyclist"), (("cyclist", "passes", guard),)),
        ]  # fmt: skip
        writer.store_events(
            [event_record(video.id, n, a, b, who=who, relations=related) for n, (a, b, who, related) in enumerate(seen)]
        )
        lines = ("Good morning.", "Papers, please.", "Gate seven is open.", "Have a safe trip.")
        for n, text in enumerate(lines):
            TranscriptLine.objects.create(
                **of_version, start_ms=25_000 + 31_000 * n, end_ms=29_000 + 31_000 * n, text=text
            )
        for n, category in enumerate(("white lorry", "yellow vest", "bicycle")):
            TrackedObject.objects.create(
                **of_version, n=n, category=category, start_ms=12_000 + 50_000 * n, end_ms=70_000 + 50_000 * n
            )
        Chunk.objects.filter(video_id=video.id, n__in=(70, 71)).update(gap="unreadable", description=None)
        failed = make_video(title="Gate 9, night", status="failed", duration_ms=None)
        Video.objects.filter(id=failed.id).update(
            error_code="unreadable_media", error_message="The recording ends after its header.", failed_at=now
        )
        renditions.plan(Video.objects.get(id=video.id))
    run_due(classes=RENDERING)
    return {"video": video.id, "failed_video": failed.id}


def _questions(cast: Cast, video_id: UUID) -> dict[str, Any]:
    with cast.scope():
        asked = [
            questions.create_question(text=text, video_ids=[video_id], api_key_id=cast.key_id, **values).id
            for text, values in (
                ("Which vehicle leaves the yard after the guard checked the papers?",
                 {"choices": ["the white lorry", "a blue car", "the bicycle"]}),
                ("What does the guard wear, and whom does the guard talk to?", {}),
                ("How often does the gate open?", {}),
            )
        ]  # fmt: skip
    _answered(cast, asked[0], video_id, text="the white lorry", choice=0)
    _answered(cast, asked[1], video_id, text="A yellow vest; the guard talks to the driver of the lorry.", choice=None)
    with cast.scope():
        again = ask_again(question_id=asked[0], method="vector", effort="low")
    return {"question": asked[0], "open_question": asked[1], "asked_again": again.id}


def _answered(cast: Cast, question_id: UUID, video_id: UUID, **values: Any) -> None:
    with cast.scope():
        begun = questions.begin(question_id=question_id)
        assert begun is not None
    words = values["text"]
    candidates = (
        CandidateRecord(words, 0, "The event at 0:01:03 shows the lorry that leaves.", (1,), 0.8, 0.9, 0.84),
        CandidateRecord("a blue car", 1, "A blue car stands at the kerb, but it does not move.", (2,), 0.2, 0.5, 0.31),
        CandidateRecord(None, None, "", (), 0.0, 0.0, 0.0),
    )
    events = (NodeEvent(EVENT, 1, 0.91, 1, ("events", "frames")), NodeEvent(uuid7(), 2, 0.74, 1, ("entities",)))
    nodes = (
        NodeRecord(path="", depth=0, action="SA", events=events, candidates=candidates, answer=words, score=0.84,
                   wall_ms=1_900, prompt_tokens=6_210, completion_tokens=310),
        NodeRecord(path="F", depth=1, action="F", events=events[:1], started_ms=1_900, wall_ms=400, score=0.6),
        NodeRecord(path="F/CA", depth=2, action="CA", events=events[:1], candidates=candidates[:1], answer=words,
                   score=0.93, started_ms=2_300, wall_ms=1_500, prompt_tokens=5_100, completion_tokens=220,
                   frames_used=12, frames_available=40),
        NodeRecord(path="RQ", depth=1, action="RQ", sub_queries=("lorry leaves", "papers are checked"), reused_from="",
                   started_ms=3_800),
    )  # fmt: skip
    citations = (
        CitationRecord(
            video_id, EVENT, 63_000, 120_000, 64_000, uuid7(), "The white lorry leaves the yard.", "supported"
        ),
        CitationRecord(video_id, EVENT, 24_000, 63_000, 30_000, uuid7(), "The guard checks the papers.", "unverified"),
    )
    with cast.scope():
        questions.store_answer(
            question=begun,
            answer=answer(
                video_id, nodes=nodes, citations=citations, usage=Usage(_CALLS, 12_350, 2_168, 654, Decimal(0)),
                timings={"retrieval": 180, "search": 3_900, "verify": 700}, confidence=0.87, **values,
            ),
            model_names={"reasoner": "qwen2.5-vl-7b", "embedder": "bge-small-en"},
        )  # fmt: skip
        for row in Evidence.objects.filter(question_id=question_id).exclude(frame_key=""):
            ObjectStorage().put(row.frame_key, frame(), content_type="image/jpeg")


def _search(cast: Cast, video_id: UUID) -> UUID:
    with cast.scope():
        search = searches.create_search(text="white lorry at the gate", video_ids=[video_id])
    with cast.scope():
        assert searches.begin(search_id=search.id) is not None
    key, lorry = f"t/{cast.tenant_id}/frames/found.jpg", uuid7()
    ObjectStorage().put(key, frame(), content_type="image/jpeg")
    found = [
        FoundEvent(
            video_id=video_id, event_id=uuid7(), n=n, start_ms=63_000 * n, end_ms=63_000 * n + 40_000,
            summary="A white lorry stands at the gate while the driver shows papers.", score=0.0312 / n,
            frame_ms=64_000, frame_key=key,
            reasons=(Reason("object", 0.71, "white lorry", lorry), Reason("event", 0.44, "", uuid7())),
            highlights=(Match("summary", "A white lorry stands at the gate", ((2, 7), (8, 13))),
                        Match("speech", "Gate seven is open.", ((0, 4),), 87_000, 91_000)),
        )
        for n in (1, 2)
    ]  # fmt: skip
    calls = (ModelCall("embedding", "bge-small-en", wall_ms=30, prompt_tokens=8, items=2),)
    with cast.scope():
        searches.store_results(
            search_id=search.id,
            found=found,
            calls=calls,
            began_at=timezone.now(),
            retrieval_ms=50,
            scores=ScoreReport(True, 0.5),
        )
    return UUID(str(search.id))


def _comparison(cast: Cast) -> dict[str, Any]:
    choice = {"choices": graded.CHOICES, "correct_choice": 1}
    made, video_id = graded.make(
        cast, [{**choice, "kind": "colour"}, choice, {**choice, "kind": "count"}, {}], name="Captions against search"
    )
    for item, (first, second) in enumerate(((0, 1), (1, 1), (2, 1))):
        graded.settle(cast, made, item, 0, graded.answer(first))
        cited = (graded.cites(video_id, 0, 3_000),)
        graded.settle(cast, made, item, 1, graded.answer(second, calls=(graded.call(3_000),), citations=cited))
    graded.settle(cast, made, 3, 0, graded.answer(text="A dog."))
    graded.settle(cast, made, 3, 1, graded.answer())
    return {"comparison": made.id}


def _requests(cast: Cast) -> None:
    """Note three requests of the tenant among the latest, one of them refused."""
    tenant, key = encode("tnt", cast.tenant_id), encode("key", cast.key_id)
    for n, (status, code) in enumerate(((200, ""), (200, ""), (404, "not_found"))):
        seen = Seen(
            timezone.now().timestamp(), f"req_of_acme{n}", "GET", "/v1/videos", status, 40 + n, tenant, key, code
        )
        RECORDER.note(seen)
    RECORDER.sent()


def _failures(cast: Cast) -> dict[str, Any]:
    """Make a dead job, an outage, and an endpoint that fails with a dead delivery; workers and servers report."""
    breakers.opened("describer", code="model_unavailable", message="no answer")
    with cast.scope():
        video = make_video(indexed_until_ms=30_000, title="Yard, Sunday")
        dead = questions.create_question(text="Which car?", video_ids=[video.id], api_key_id=cast.key_id).id
        Job.objects.filter(subject_id=dead).update(
            state=JobState.DEAD, error_code="model_unavailable", completed_at=timezone.now()
        )
        questions.fail_question(question_id=dead, code="model_unavailable", message="No model answered.")
        job = Job.objects.get(subject_id=dead)
        endpoint, _ = create_endpoint(url="https://hooks.acme.example/ava")
        delivery = send_test(endpoint=endpoint)
        Delivery.objects.filter(id=delivery.id).update(state="dead", attempts=2)
        for n in (1, 2):
            Attempt.objects.create(
                tenant_id=cast.tenant_id, delivery=delivery, n=n, status_code=503, response_excerpt="out of order",
                latency_ms=412 * n, error_code="http_error",
            )  # fmt: skip
        Endpoint.objects.update(dead_deliveries=5, breaker="open", failures=7, opened_at=timezone.now())
    _requests(cast)
    fleet_reports.publish(fleet_reports.WORKERS, "gpu@worker-1", {"processes": {"ready": 2}, "queues": ["gpu.index"]})
    fleet_reports.publish(
        fleet_reports.SERVERS, "vlm", {"answers": True, "ModelRequestsWaiting": 3.0, "tokens_per_second": 1234.5}
    )
    return {"dead": dead, "job": job.id, "endpoint": endpoint.id, "delivery": delivery.id, "breaker": "describer"}


def unpaid_invoice(cast: Cast) -> UUID:
    """Close a month of a tenant without credit. Returns its invoice, which is final and not paid."""
    with cast.scope():
        BillingAccount.objects.create(
            tenant_id=cast.tenant_id, legal_name="Acme Traffic GmbH", country="DE", currency="USD", time_zone="UTC"
        )
    use(cast, timezone.now().replace(day=1, hour=12) - timedelta(days=10), 340)
    return close(cast, timezone.now().replace(day=1) + timedelta(days=20))[0]


def _money(cast: Cast) -> dict[str, Any]:
    """Close the last month with an invoice, grant a credit, and set a budget."""
    with cast.scope():
        TenantBudget.objects.create(tenant_id=cast.tenant_id, max_cost=Decimal(250), max_tokens=5_000_000)
        BillingAccount.objects.create(
            tenant_id=cast.tenant_id, legal_name="Acme Traffic GmbH", country="DE", currency="USD", time_zone="UTC"
        )
        grant_credit(amount=Decimal(25), currency="USD", reason="outage of Sunday", author="finance@example.org")
        ExportState.objects.create(tenant_id=cast.tenant_id, sink="stripe", subject="usage")
    Coupon.objects.using("staff").create(code="SPRING-25", percent=25, months=3, author="finance@example.org")
    MachineDay.objects.using("staff").create(
        day=timezone.now().date(), machine="g6.xlarge", hours=24, usd_per_hour=Decimal("0.8"),
        author="finance@example.org",
    )  # fmt: skip
    rate = DeviceRate(fresh_us=40, cached_us=1, output_us=900)
    append_rate("qwen2.5-vl-7b", rate, author="finance@example.org", note="measured", using="staff")
    InvariantResult.objects.using("dispatch").create(
        name="rollups_equal_the_ledger", checked_at=timezone.now(), violations=0
    )
    reconcile_day(timezone.now().date())
    last = timezone.now().replace(day=1, hour=12) - timedelta(days=10)
    use(cast, last, 340)
    use(cast, last, 5_400, meter="media_seconds")
    invoice = close(cast, timezone.now().replace(day=1) + timedelta(days=20))[0]
    return {"invoice": invoice, "plan": Plan.objects.get(code="standard").id}


def _people(cast: Cast) -> UUID:
    invitation_of(cast, "new@acme.example", "analyst")
    member_of(cast, "admin", person("bob"))
    return UUID(str(member_of(cast, "owner", person("ada")).id))
