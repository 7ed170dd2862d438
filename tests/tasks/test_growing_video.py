"""A recording that arrives in pieces is indexed like the same recording in one file, while it arrives."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings

from backend.api.public_ids import encode
from backend.billing.models import UsageEvent
from backend.ekg.models import Chunk, Event, Frame
from backend.library.models import IndexVersion, Segment
from backend.library.storage import ObjectStorage
from backend.questions.models import Evidence, QuestionVideo
from backend.questions.services import questions
from backend.webhooks.models import WebhookEvent
from gpu_workers.engine.indexing.file_clock import FileClock
from gpu_workers.tasks import answer_question
from tests.conftest import Cast
from tests.library.growing import begin, close, cut, path_of, segments, send
from tests.scripted_openai import ScriptedOpenAIServer
from tests.tasks.eyes import BLUE, GREEN, RED, colour_of
from tests.tasks.test_answer_jobs import CHOICES, saying
from tests.tasks.test_index_jobs import check_bill, check_graph
from tests.tasks.world import FORTY_SECONDS, indexed_video, run_due

pytestmark = pytest.mark.slow

# Off the 3 s grid, with every border inside a scene.
CUTS = (0, 10_400, 17_400, 40_000)


def shape(video_id: UUID) -> dict[str, list[Any]]:
    """Return an index without its ids."""
    of = {"video_id": video_id}
    return {
        "segments": list(Segment.objects.filter(**of).order_by("n").values_list("start_ms", "end_ms")),
        "chunks": list(
            Chunk.objects.filter(**of).order_by("n").values_list("n", "start_ms", "end_ms", "description", "gap")
        ),
        "events": list(Event.objects.filter(**of).order_by("n").values_list("start_ms", "end_ms", "summary")),
        "frames": list(Frame.objects.filter(**of).order_by("ms").values_list("ms", flat=True)),
    }


@pytest.mark.parametrize("segment_ms", [30_000, pytest.param(6_000, marks=pytest.mark.long)])
def test_the_same_recording_as_one_file_and_as_pieces_gives_the_same_index(
    acme: Cast, monkeypatch: pytest.MonkeyPatch, segment_ms: int
) -> None:
    monkeypatch.setattr(settings, "SEGMENT_MS", segment_ms)
    whole = indexed_video(acme)
    pieces = begin(acme)
    for start, end in pairwise(CUTS):
        send(acme, pieces, cut(FORTY_SECONDS, start, end))
    # Closed before any piece is taken in.
    close(acme, pieces)
    run_due(times=2)

    with acme.scope():
        check_graph(pieces, 40_000)
        check_bill(pieces, 40_000)
        assert shape(pieces) == shape(whole)
        shown = {f.ms: f.thumbnail_key for f in Frame.objects.filter(video_id=pieces, ms__in=[14_000, 15_000, 27_000])}
    colours = {ms: colour_of(ObjectStorage().get(key)) for ms, key in shown.items()}
    assert colours == {14_000: RED, 15_000: GREEN, 27_000: BLUE}


@pytest.mark.long
def test_questions_see_exactly_what_is_committed_while_the_recording_grows(
    acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "SEGMENT_MS", 6_000)
    video_id = begin(acme)

    def arrive(start: int, end: int) -> tuple[str, int, int, str]:
        send(acme, video_id, cut(FORTY_SECONDS, start, end))
        run_due()
        video = acme.client.get(path_of(video_id)).json()
        job = acme.client.get("/v1/index-jobs", {"video_id": encode("vid", video_id)}).json()["data"][0]
        with acme.scope():
            assert IndexVersion.objects.get().indexed_until_ms == video["indexed_until_ms"]
        return video["status"], video["duration_ms"], video["indexed_until_ms"], job["stage"]

    # All but the last chunk of what is there, whether or not its event goes on.
    assert arrive(0, 10_400) == ("indexing", 10_400, 9_000, "input")
    assert arrive(10_400, 17_400) == ("indexing", 17_400, 15_000, "input")
    assert arrive(17_400, 30_000) == ("indexing", 30_000, 27_000, "input")
    assert arrive(30_000, 40_000) == ("indexing", 40_000, 39_000, "input")
    with acme.scope():
        assert not WebhookEvent.objects.filter(type="video.ready").exists()
        question = questions.create_question(text="What now?", video_ids=[video_id])
        assert questions.begin(question_id=question.id) is not None
        pinned = QuestionVideo.objects.get()
        assert (pinned.index_version, pinned.indexed_until_ms) == (1, 39_000)
        billed = UsageEvent.objects.filter(meter="live_seconds")
        assert sum(row.quantity for row in billed) == Decimal(39)
        questions.cancel_question(question_id=question.id)
    close(acme, video_id)
    run_due()
    with acme.scope():
        events = check_graph(video_id, 40_000)
        check_bill(video_id, 40_000)
        assert [(e.start_ms, e.end_ms) for e in events] == [
            (0, 9_000), (9_000, 15_000), (15_000, 27_000), (27_000, 39_000), (39_000, 40_000),
        ]  # fmt: skip
        assert WebhookEvent.objects.filter(type="video.ready").count() == 1


@pytest.mark.parametrize("piece_ms", [3_100, 5_000])
def test_the_first_event_of_an_open_stream_is_there_after_the_first_piece(acme: Cast, piece_ms: int) -> None:
    video_id = begin(acme)
    until = []
    for n in range(3):
        send(acme, video_id, cut(FORTY_SECONDS, n * piece_ms, (n + 1) * piece_ms))
        run_due()
        video = acme.client.get(path_of(video_id)).json()
        until.append(video["indexed_until_ms"])
        events = acme.client.get(f"{path_of(video_id)}/events").json()["data"]
        assert events[-1]["end_ms"] == until[-1] > n * piece_ms - 3_000

    assert until[0] == 3_000
    assert acme.client.post("/v1/questions", {"question": "What?", "video_ids": [video["id"]]}).status_code == 202
    close(acme, video_id)
    run_due()
    with acme.scope():
        check_graph(video_id, 3 * piece_ms)
        check_bill(video_id, 3 * piece_ms)


@pytest.mark.long
def test_a_piece_that_fails_in_the_middle_leaves_the_rest_whole(acme: Cast) -> None:
    video_id = begin(acme)
    send(acme, video_id, cut(FORTY_SECONDS, 0, 15_000))
    send(acme, video_id, b"this is no recording at all")
    send(acme, video_id, cut(FORTY_SECONDS, 15_000, 40_000))
    close(acme, video_id)
    run_due(times=2)

    assert [(s["status"], s["start_ms"]) for s in segments(acme, video_id)] == [
        ("ready", 0), ("failed", 15_000), ("ready", 15_000)
    ]  # fmt: skip
    with acme.scope():
        check_graph(video_id, 40_000)
        check_bill(video_id, 40_000)


def test_evidence_is_cut_from_the_piece_that_shows_it(
    acme: Cast, llm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    video_id = begin(acme)
    for start, end in ((0, 7_700), (7_700, 12_000)):
        send(acme, video_id, cut(FORTY_SECONDS, 9_000 + start, 9_000 + end))
    close(acme, video_id)
    run_due()
    asked: list[int] = []
    real = answer_question.still

    def still(source: str, ms: int, *, clock: FileClock) -> bytes:
        asked.append(ms)
        return real(source, ms, clock=clock)

    monkeypatch.setattr(answer_question, "still", still)
    llm.script = saying(lambda request: "B")
    body = {"question": "What do the dogs chase?", "choices": CHOICES, "video_ids": [encode("vid", video_id)]}
    assert acme.client.post("/v1/questions", body).status_code == 202
    run_due()

    with acme.scope():
        (evidence,) = Evidence.objects.all()
        assert (evidence.start_ms, evidence.end_ms) == (6_000, 12_000)
        local = evidence.frame_ms - (7_700 if evidence.frame_ms >= 7_700 else 0)
        assert asked == [local]
        assert colour_of(ObjectStorage().get(evidence.frame_key)) == GREEN
