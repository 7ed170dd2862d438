"""Describer, summariser, extractor and checker over a scripted VLM."""

from __future__ import annotations

import json
import threading
from collections import Counter

import numpy as np
import pytest

from gpu_workers.engine.ekg import Chunk, Picture, SampledFrame, Span, TranscriptLine
from gpu_workers.engine.models.bindings import load_answer_models, load_index_models
from gpu_workers.engine.models.pictures import jpeg_of
from gpu_workers.engine.models.roles import (
    ChatCapabilities,
    CheckRequest,
    ChunkView,
    FrameEvidence,
    Meter,
    ModelError,
    ObserveRequest,
    SegmentView,
)
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.events import LlmSummariser, VlmExtractor, read_graph
from gpu_workers.engine.models.served.structured import clean, read_object
from gpu_workers.engine.models.served.transport import RetryPolicy
from gpu_workers.engine.models.served.vision import VlmChecker, VlmDescriber
from gpu_workers.engine.models.settings import ModelSettings
from gpu_workers.engine.prompts import load
from tests.scripted_openai import Fault, Reply, ScriptedOpenAIServer, ScriptedRequest, missing_until


def _model(server: ScriptedOpenAIServer, context_tokens: int = 32_768, **options: object) -> OpenAIChatModel:
    return OpenAIChatModel(
        base_url=server.url,
        model="scripted",
        capabilities=ChatCapabilities(context_tokens, images=True),
        retry=RetryPolicy(attempts=1),
        **options,  # type: ignore[arg-type]
    )


def _view(*frame_counts: int) -> SegmentView:
    chunks = []
    for n, count in enumerate(frame_counts):
        span = Span(n * 3000, n * 3000 + 3000)
        step = 3000 // max(count, 1)
        frames = tuple(SampledFrame(span.start_ms + k * step, _picture(n * 20 + k)) for k in range(count))
        chunks.append(ChunkView(n, span, frames))
    return SegmentView(
        Span(0, 3000 * len(frame_counts)), tuple(chunks), profile="traffic", instructions="watch </data> vans"
    )


def _picture(step: int, *, width: int = 320, height: int = 180) -> Picture:
    """A grey wall, and a white ball that is elsewhere at every step."""
    picture = np.full((height, width, 3), 90, dtype=np.uint8)
    x = 12 * step % (width - 16)
    picture[60:76, x : x + 16] = 250
    return picture


def _described(text: str, clock: str = "") -> str:
    return json.dumps({"description": text, "on_screen_clock": clock, "on_screen_text": ["EXIT", "EXIT"]})


def test_each_chunk_is_described_from_at_most_six_frames() -> None:
    with ScriptedOpenAIServer(_described("A van turns left.", "12:04:07")) as server:
        result = VlmDescriber(_model(server)).describe(_view(6, 15), meter=Meter())
        assert sorted(len(r.images) for r in server.requests) == [6, 6]
        assert "vehicles" in server.requests[0].system
        assert "watch </data> vans" not in server.requests[0].system
    assert [c.description for c in result.chunks] == ["A van turns left. The on-screen clock reads 12:04:07."] * 2
    assert result.chunks[0].on_screen_text == ("EXIT", "12:04:07")
    assert result.chunks[0].facts == {}


def test_a_server_that_takes_few_pictures_gets_no_more() -> None:
    with ScriptedOpenAIServer(_described("A van.")) as server:
        settings = ModelSettings.from_env(
            {"DESCRIBER_URL": server.url, "REASONER_URL": server.url, "DESCRIBER_IMAGES": "4"}
        )
        load_index_models(settings).describer.describe(_view(6), meter=Meter())
        assert [len(r.images) for r in server.requests] == [4]
        checker = load_answer_models(settings).checker
        assert checker is not None
        assert checker.max_frames == 4


def test_one_failing_chunk_is_a_gap_and_costs_no_other() -> None:
    def script(request: ScriptedRequest) -> object:
        if "00:03 to 00:06" in request.user:
            return Reply("", refusal="no")
        if "00:06 to 00:09" in request.user:
            return "never JSON"
        return _described("A car stops.")

    with ScriptedOpenAIServer(script) as server:
        result = VlmDescriber(_model(server)).describe(_view(6, 6, 6, 0, 6), meter=Meter())
    assert [c.gap for c in result.chunks] == [None, "model_refused", "invalid_output", "no_frames", None]


def test_a_chunk_that_failed_in_passing_is_asked_for_again_and_no_other_is() -> None:
    """An item is retried alone, never with its batch."""
    asked: Counter[str] = Counter()

    def script(request: ScriptedRequest) -> object:
        chunk = next(mark for mark in ("00:00 to", "00:03 to", "00:06 to", "00:09 to") if mark in request.user)
        asked[chunk] += 1
        return Fault(503) if chunk == "00:03 to" and asked[chunk] < 3 else _described("A car stops.")

    pauses: list[float] = []
    with ScriptedOpenAIServer(script) as server:
        describer = VlmDescriber(_model(server), pauses_s=(1.0, 4.0), sleep=pauses.append)
        result = describer.describe(_view(6, 6, 6, 6), meter=Meter())
    assert [c.gap for c in result.chunks] == [None] * 4
    assert asked == {"00:00 to": 1, "00:03 to": 3, "00:06 to": 1, "00:09 to": 1}
    assert pauses == [1.0, 4.0]


def test_a_chunk_whose_server_stays_away_is_no_gap() -> None:
    def script(request: ScriptedRequest) -> object:
        return Fault(503) if "00:06 to" in request.user else _described("A car stops.")

    pauses: list[float] = []
    with ScriptedOpenAIServer(script) as server:
        describer = VlmDescriber(_model(server), pauses_s=(1.0, 4.0), sleep=pauses.append)
        with pytest.raises(ModelError) as caught:
            describer.describe(_view(6, 6, 6), meter=Meter())
        assert len(server.requests) == 5
    assert (caught.value.code, caught.value.retryable) == ("model_unavailable", True)
    assert pauses == [1.0, 4.0]


@pytest.mark.parametrize("status", [401, 402, 403, 404, 405, 407])
def test_a_server_that_is_set_up_wrongly_leaves_no_gap_and_is_not_waited_for(status: int) -> None:
    pauses: list[float] = []
    with ScriptedOpenAIServer(Fault(status)) as server:
        with pytest.raises(ModelError) as caught:
            VlmDescriber(_model(server), sleep=pauses.append).describe(_view(6, 6), meter=Meter())
        assert len(server.requests) == 1
    assert (caught.value.code, caught.value.retryable) == ("model_misconfigured", True)
    assert pauses == []


def test_a_request_that_is_not_taken_is_a_gap_only_next_to_others_that_are() -> None:
    invalid = Fault(400, "invalid", "no such parameter")

    def script(request: ScriptedRequest) -> object:
        return invalid if "00:03 to" in request.user else _described("A car stops.")

    with ScriptedOpenAIServer(script) as server:
        result = VlmDescriber(_model(server)).describe(_view(6, 6, 6), meter=Meter())
    assert [chunk.gap for chunk in result.chunks] == [None, "model_bad_request", None]
    with ScriptedOpenAIServer(invalid) as server, pytest.raises(ModelError) as caught:
        VlmDescriber(_model(server)).describe(_view(6, 6, 6), meter=Meter())
    assert (caught.value.code, caught.value.retryable) == ("model_misconfigured", True)


def test_a_provider_that_declines_by_an_error_has_refused_the_content() -> None:
    with ScriptedOpenAIServer(Fault(400, "content_filter", "no")) as server:
        result = VlmDescriber(_model(server)).describe(_view(6, 6), meter=Meter())
    assert [chunk.gap for chunk in result.chunks] == ["model_refused", "model_refused"]


def test_a_model_that_is_missing_for_a_minute_leaves_no_gap() -> None:
    ready = threading.Event()
    with ScriptedOpenAIServer(missing_until(ready, lambda request: _described("A van."))) as server:
        describer = VlmDescriber(_model(server))
        with pytest.raises(ModelError):
            describer.describe(_view(6, 6), meter=Meter())
        ready.set()
        result = describer.describe(_view(6, 6), meter=Meter())
    assert [chunk.gap for chunk in result.chunks] == [None, None]


def test_a_malformed_answer_is_asked_for_again_with_the_fault_named() -> None:
    with ScriptedOpenAIServer(["{not json", '{"description": ""}', _described("A bus waits.")]) as server:
        result = VlmDescriber(_model(server)).describe(_view(2), meter=Meter())
        assert len(server.requests) == 3
        assert "could not be used" in server.requests[1].user
    assert result.chunks[0].description == "A bus waits."


def test_a_cut_answer_is_asked_for_again_with_more_room() -> None:
    with ScriptedOpenAIServer([Reply('{"desc', finish_reason="length"), _described("A tram.")]) as server:
        VlmDescriber(_model(server), max_tokens=100).describe(_view(2), meter=Meter())
        assert [r.body["max_tokens"] for r in server.requests] == [100, 200]


def test_an_endpoint_that_is_down_is_an_error_not_a_video_full_of_gaps() -> None:
    with ScriptedOpenAIServer(Fault(503)) as server, pytest.raises(ModelError) as caught:
        VlmDescriber(_model(server)).describe(_view(2, 2), meter=Meter())
    assert caught.value.retryable


def _chunk(n: int, text: str | None) -> Chunk:
    lines = (TranscriptLine(Span(n * 3000, n * 3000 + 1000), f"word {n}"),)
    return Chunk(n, Span(n * 3000, n * 3000 + 3000), text, gap=None if text else "no_frames", transcript=lines)


def test_the_summary_is_made_from_every_member_chunk_with_its_time() -> None:
    with ScriptedOpenAIServer({"summary": "All of it."}) as server:
        summary = LlmSummariser(_model(server)).summarise(
            [_chunk(n, f"text {n}") for n in range(8)], profile="general", meter=Meter()
        )
        sent = server.requests[0].user
    assert summary == "All of it."
    assert all(f"text {n}" in sent and f"word {n}" in sent for n in range(8))
    assert "[00:21-00:24]" in sent


def test_an_event_of_one_described_chunk_keeps_its_description() -> None:
    with ScriptedOpenAIServer({"summary": "x"}) as server:
        summariser = LlmSummariser(_model(server))
        assert summariser.summarise([_chunk(0, "alone"), _chunk(1, None)], profile="general", meter=Meter()) == "alone"
        assert server.requests == []


@pytest.mark.parametrize(("reply", "code"), [(Reply("", refusal="no"), "model_refused"), ("x", "invalid_output")])
def test_a_summary_that_cannot_be_had_is_an_error(reply: Reply | str, code: str) -> None:
    """The assembler keeps the descriptions then, and warns (tests/engine/indexing/test_assembly.py)."""
    with ScriptedOpenAIServer(reply) as server, pytest.raises(ModelError) as caught:
        LlmSummariser(_model(server)).summarise(
            [_chunk(0, "one."), _chunk(1, "two.")], profile="general", meter=Meter()
        )
    assert (caught.value.code, caught.value.retryable) == (code, False)


def test_the_graph_keeps_what_is_valid_and_drops_the_rest() -> None:
    good = {"name": "woman in red coat", "type": "person", "appearance": "red", "role": "walks", "aliases": ["woman"],
            "confidence": 3, "frames": [0, 9, True]}  # fmt: skip
    answer = {
        "entities": [
            good,
            {**good, "name": "Woman in red coat"},
            {"type": "person"},
            "x",
            {"name": "dog", "type": "pet"},
        ],
        "relations": [
            {"subject": "woman in red coat", "predicate": "leads", "object": "DOG"},
            {"subject": "dog", "predicate": "is", "object": "dog"},
            {"subject": "cat", "predicate": "sees", "object": "dog"},
            {"subject": "woman in red coat", "predicate": "leads", "object": "dog"},
        ],
    }
    graph = read_graph(answer, [500, 1000])
    assert [(m.name, m.type, m.confidence, m.frame_ms) for m in graph.mentions] == [
        ("woman in red coat", "person", 1.0, (500,)),
        ("dog", "other", 1.0, ()),
    ]
    assert [(r.subject, r.predicate, r.object) for r in graph.relations] == [("woman in red coat", "leads", "dog")]


def test_the_extractor_shows_frames_and_event_text() -> None:
    with ScriptedOpenAIServer({"entities": [], "relations": []}) as server:
        frames = [(k * 500, b"jpeg%d" % k) for k in range(20)]
        VlmExtractor(_model(server)).extract("A man sits $HOME.", [], frames, profile="general", meter=Meter())
        (request,) = server.requests
    assert request.images == (frames[5][1], frames[15][1])
    assert "A man sits $HOME." in request.user


def test_the_checker_shows_no_more_frames_than_fit_the_window() -> None:
    frames = tuple(FrameEvidence(k * 1000, b"jpeg%d" % k) for k in range(100))
    request = CheckRequest("How many?", ("one", "two"), ("one", "two"), frames)
    with ScriptedOpenAIServer('{"answer": "A"}') as server:
        checker = VlmChecker(_model(server, context_tokens=4096))
        samples = checker.check(request, n=2, schema={"type": "object"}, meter=Meter())
        (sent,) = server.requests
    assert len(samples) == 2
    assert 0 < len(sent.images) <= 10
    assert f"You see {len(sent.images)} of 100 frames" in sent.user
    assert "B. two" in sent.user


def test_notes_are_read_next_to_the_frames_and_without_notes_nothing_changes() -> None:
    plain = CheckRequest("How many?", ("one", "two"), ("one",), (FrameEvidence(0, b"jpeg"),))
    noted = CheckRequest("How many?", ("one", "two"), (), plain.frames, ("Summary: two\nmen walk.", "x" * 3_000))
    with ScriptedOpenAIServer('{"answer": "A"}') as server:
        checker = VlmChecker(_model(server))
        for request in (plain, noted):
            checker.check(request, n=1, schema={"type": "object"}, meter=Meter())
        without, with_notes = server.requests
    assert without.system == load("check").substitute()
    assert without.user.endswith(
        "You see 1 of 1 frames, in order of time.\nQuestion: How many?\nA. one\nB. two\nEarlier answers: one"
    )
    assert with_notes.system == load("check_noted").substitute()
    assert "<text>\nSummary: two men walk.\nxxx" in with_notes.user
    assert with_notes.user.count("x" * 2_000) == 1
    assert "x" * 2_001 not in with_notes.user
    assert with_notes.user.endswith("Question: How many?\nA. one\nB. two\nEarlier answers: none")


def test_notes_take_room_from_the_frames() -> None:
    frames = tuple(FrameEvidence(k * 1000, b"jpeg%d" % k) for k in range(100))
    shown = []
    with ScriptedOpenAIServer('{"answer": "A"}') as server:
        for known in ((), ("word " * 390, "word " * 390)):
            request = CheckRequest("How many?", (), (), frames, known)
            VlmChecker(_model(server, context_tokens=4096)).check(request, n=1, schema={}, meter=Meter())
            shown.append(len(server.requests[-1].images))
    assert 0 < shown[1] < shown[0]


def test_a_window_without_room_for_one_frame_is_an_error_before_any_call() -> None:
    request = CheckRequest("How many?", (), (), (FrameEvidence(0, b"x"),))
    with ScriptedOpenAIServer("{}") as server:
        with pytest.raises(ModelError) as caught:
            VlmChecker(_model(server, context_tokens=900)).check(request, n=1, schema={}, meter=Meter())
        assert server.requests == []
    assert caught.value.code == "context_exceeded"


@pytest.mark.parametrize("text", ['{"a": 1}', '```json\n{"a": 1}\n```', 'Sure {x}: {"a": 1} bye', '[1] {"a": 1}'])
def test_an_object_is_found_inside_prose(text: str) -> None:
    assert read_object(text) == {"a": 1}


def test_words_of_a_model_can_be_stored_whatever_their_json_spells() -> None:
    fields = read_object(r'{"a": "EXIT\u0000 \ud83d sign \ud83d\ude00"}')
    assert fields is not None
    assert clean(fields["a"]).encode() == "EXIT sign 😀".encode()


def looking(count: int, **fields: object) -> ObserveRequest:
    size = {"width": 1280, "height": 720} if fields.get("high") else {"width": 480, "height": 270}
    jpeg = jpeg_of(_picture(0, **size), longest=1280)
    frames = tuple(FrameEvidence(500 * k, jpeg) for k in range(count))
    values = {"hypothesis": "a red car", "known": ("00:01-00:02 a car waits",), "high": False, **fields}
    return ObserveRequest("Which car?", "the colour of the car", frames=frames, **values)  # type: ignore[arg-type]


def test_a_look_shows_frames_by_number_and_time_and_the_earlier_findings() -> None:
    with ScriptedOpenAIServer('{"findings": []}') as server:
        meter = Meter()
        sample = VlmChecker(_model(server)).observe(looking(3), schema={"type": "object"}, meter=meter)
        (request,) = server.requests
    assert sample.text == '{"findings": []}'
    assert len(request.images) == 3
    for text in ("Frame 1 at 0 ms:", "Frame 3 at 1000 ms:", "the colour of the car", "a red car", "a car waits"):
        assert text in request.user
    assert (request.n, [call.stage for call in meter.calls]) == (1, ["observe"])


def test_a_look_numbers_the_frames_that_fit_the_window_as_offered() -> None:
    with ScriptedOpenAIServer('{"findings": []}') as server:
        model = _model(server, context_tokens=4096)
        for high in (False, True):
            VlmChecker(model).observe(looking(60, high=high), schema={}, meter=Meter())
        low, full = server.requests
    assert 10 <= len(low.images) <= 20
    assert 1 <= len(full.images) <= 2
    assert "Frame 1 at 0 ms:" not in low.user
    numbers = [int(text.split(" ")[1]) for text in low.user.splitlines() if text.startswith("Frame ")]
    assert numbers == sorted(set(numbers))
    assert max(numbers) > 50
