"""The engine's own code against a real vLLM: `make test-vllm` starts the servers and then these tests."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from uuid import uuid4

import numpy as np
import pytest

from gpu_workers.engine.answering.answer_question import answer_question
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.answering.parsing import answer_schema, parse_answer
from gpu_workers.engine.answering.presets import changed, settings_for
from gpu_workers.engine.ekg import Picture, SampledFrame, Span
from gpu_workers.engine.indexing.global_summary import summarise
from gpu_workers.engine.models import bindings
from gpu_workers.engine.models.bindings import ModelSettings
from gpu_workers.engine.models.pictures import jpeg_of
from gpu_workers.engine.models.roles import (
    CheckRequest,
    ChunkView,
    FrameEvidence,
    Image,
    IndexModels,
    Message,
    Meter,
    ModelCall,
    ModelError,
    SegmentView,
)
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.events import LlmSummariser, VlmExtractor
from gpu_workers.engine.models.served.vision import VlmChecker, VlmDescriber
from infra.vllm.servers import IMAGES
from tests.engine.indexing.media import solid
from tests.infra.vllm.conftest import Indexed, Notes

if not os.environ.get("AVA_TEST_VLLM"):
    pytest.skip("make test-vllm sets up and starts the vLLM servers of these tests", allow_module_level=True)

FRAME_TOKENS = 66 + 2
"""Tokens of a picture of 320 x 180, which becomes 308 x 168: 11 x 6 patches of 28 x 28, and two marks at its ends."""
CACHE_BLOCK = 128
"""Tokens in one block of vLLM's prefix cache on a CPU."""
FIELDS = {"title": "seen", "type": "object", "properties": {"seen": {"type": "string"}}, "required": ["seen"]}
QUESTION = "What do the people in this video do?"
EVENTS = "\n".join(f"[E{n}] 00:0{n}: a person in black walks past a shop and waits near the pole" for n in range(1, 9))


@pytest.fixture(scope="module")
def seeing(settings: ModelSettings) -> OpenAIChatModel:
    return bindings.vision_model(settings)


@pytest.fixture(scope="module")
def reading(settings: ModelSettings) -> OpenAIChatModel:
    return bindings.reasoner(settings)


def frame(n: int, picture: Picture | None = None) -> SampledFrame:
    shade = (40 * n % 256, 255 - 30 * n, 90)
    return SampledFrame(n * 500, solid(shade, width=320, height=180) if picture is None else picture)


def chunk_view(frames: int) -> SegmentView:
    chunk = ChunkView(0, Span(0, 3_000), tuple(frame(n) for n in range(frames)))
    return SegmentView(chunk.span, (chunk,))


def asked(calls: tuple[ModelCall, ...], stage: str) -> list[ModelCall]:
    return [call for call in calls if call.stage == stage and call.completion_tokens]


# --- indexing -------------------------------------------------------------------------------------------------------


def test_the_openai_profile_indexes_a_video(indexed: Indexed, models: IndexModels) -> None:
    kinds = (type(models.describer), type(models.summariser), type(models.extractor))
    assert kinds == (VlmDescriber, LlmSummariser, VlmExtractor)
    chunks = sorted(indexed.index.chunks, key=lambda chunk: chunk.span.start_ms)
    assert [chunk.span.start_ms for chunk in chunks] == list(range(0, indexed.duration_ms, 3_000))
    assert all(bool(chunk.description) != bool(chunk.gap) for chunk in chunks)
    assert {chunk.gap for chunk in chunks if chunk.gap} <= {"output_truncated", "invalid_output"}
    described = [chunk for chunk in chunks if chunk.description]
    assert len(described) >= 8, "the model's strings end, so nearly all of its ten answers can be read"
    assert len({chunk.description for chunk in described}) > 1, "one text for all chunks: were their frames looked at?"

    events = sorted((record.event for record in indexed.index.events), key=lambda event: event.n)
    assert [(e.first_chunk, e.end_chunk) for e in events] == [
        (a, b) for a, b in zip([0, *(e.end_chunk for e in events)], [e.end_chunk for e in events], strict=False)
    ]
    assert events[-1].end_chunk == len(chunks)
    assert all(event.summary for event in events)


def test_indexing_meters_what_the_server_counted(indexed: Indexed) -> None:
    described = asked(indexed.calls, "description")
    assert len(described) >= len(indexed.index.chunks)
    assert all(call.prompt_tokens > 6 * FRAME_TOKENS for call in described), "six frames of every chunk arrived"
    assert asked(indexed.calls, "summary"), "at least one event has several described chunks"
    extracted = asked(indexed.calls, "entities")
    assert len(extracted) >= len(indexed.index.events)
    assert all(call.prompt_tokens > FRAME_TOKENS for call in extracted), "the extractor was shown frames"
    for call in indexed.calls:
        assert 0 <= call.cached_tokens <= call.prompt_tokens
    assert any(call.cached_tokens >= CACHE_BLOCK for call in described), "chunks share their instructions"


def test_the_narrator_summarises_the_indexed_events(indexed: Indexed, models: IndexModels, notes: Notes) -> None:
    meter = Meter()
    warnings = summarise(indexed.index, models.narrator, profile="general", meter=meter)
    assert asked(meter.calls, "topics")
    assert asked(meter.calls, "overview")
    assert indexed.index.topics
    assert indexed.index.overview is not None
    assert indexed.index.overview.text
    assert {warning.code for warning in warnings} <= {"invalid_output", "output_truncated"}
    notes.calls("global summary", meter.calls)


def test_every_frame_of_a_message_is_read(seeing: OpenAIChatModel, notes: Notes) -> None:
    def prompt_tokens(frames: int) -> int:
        meter = Meter()
        images = tuple(Image(jpeg_of(frame(n).picture)) for n in range(frames))
        message = Message("user", (*images, "What do you see?"))
        seeing.sample([message], stage="count", meter=meter, max_tokens=1)
        return meter.calls[0].prompt_tokens

    counted = {frames: prompt_tokens(frames) for frames in (0, 1, 2, 6, 16)}
    notes.add(f"prompt tokens by number of frames: {counted}")
    assert [counted[n] - counted[0] for n in (1, 2, 6, 16)] == [n * FRAME_TOKENS for n in (1, 2, 6, 16)]


def test_the_describer_sends_all_frames_of_its_chunk(seeing: OpenAIChatModel) -> None:
    counted = []
    for frames in (1, 3, 6):
        meter = Meter()
        VlmDescriber(seeing).describe(chunk_view(frames), meter=meter)
        counted.append(meter.calls[0].prompt_tokens)
    # Each frame has a label as well, a few tokens long.
    assert 2 * FRAME_TOKENS < counted[1] - counted[0] < 2 * (FRAME_TOKENS + 12)
    assert 3 * FRAME_TOKENS < counted[2] - counted[1] < 3 * (FRAME_TOKENS + 12)


def test_another_picture_is_not_taken_for_the_cached_one(seeing: OpenAIChatModel) -> None:
    def call(picture: Picture) -> ModelCall:
        meter = Meter()
        parts = (f"Look at this. {nonce}", Image(jpeg_of(picture)), "What do you see? " * 40)
        seeing.sample([Message("user", parts)], stage="count", meter=meter, max_tokens=1)
        return meter.calls[0]

    nonce = uuid4().hex
    noise = np.random.default_rng(0).integers(0, 255, (180, 320, 3), dtype=np.uint8)
    first, again, other = call(solid((200, 30, 30), 320, 180)), call(solid((200, 30, 30), 320, 180)), call(noise)
    assert first.cached_tokens == 0
    assert again.cached_tokens >= CACHE_BLOCK
    assert other.prompt_tokens == first.prompt_tokens
    assert other.cached_tokens == 0, "its picture lies in the first block"


# --- limits ---------------------------------------------------------------------------------------------------------


def test_an_answer_that_hits_its_limit_is_marked(seeing: OpenAIChatModel, reading: OpenAIChatModel) -> None:
    for model in (seeing, reading):
        meter = Meter()
        messages = [Message("user", ("Tell a long story.",))]
        (sample,) = model.sample(messages, stage="cut", meter=meter, schema=FIELDS, max_tokens=3)
        assert sample.truncated
        assert meter.calls[0].completion_tokens == 3


def test_a_describer_without_room_reports_a_gap(seeing: OpenAIChatModel) -> None:
    meter = Meter()
    described = VlmDescriber(seeing, max_tokens=2).describe(chunk_view(2), meter=meter)
    assert [(chunk.description, chunk.gap) for chunk in described.chunks] == [(None, "output_truncated")]
    assert [call.completion_tokens for call in meter.calls] == [2, 4, 8], "asked again with twice the room"


def test_refused_requests_have_the_engines_codes(
    seeing: OpenAIChatModel, reading: OpenAIChatModel, settings: ModelSettings
) -> None:
    def code(model: OpenAIChatModel, *parts: str | Image) -> str:
        with pytest.raises(ModelError) as caught:
            model.sample([Message("user", parts)], stage="refused", meter=Meter(), max_tokens=8)
        assert not caught.value.retryable
        return caught.value.code

    picture = Image(jpeg_of(frame(0).picture))
    assert code(reading, "word " * 9_000) == "context_exceeded"
    assert code(seeing, *[picture] * (IMAGES + 1)) == "model_bad_request"
    assert code(bindings.reasoner(replace(settings, reasoner_model="another")), "hello") == "model_bad_request"
    assert code(bindings.reasoner(replace(settings, reasoner_api_key="wrong")), "hello") == "model_bad_request"


# --- samples and the prefix cache ------------------------------------------------------------------------------------


@pytest.mark.parametrize("choices", [(), ("a cat", "a person", "a boat")])
def test_eight_samples_come_from_one_request(reading: OpenAIChatModel, choices: tuple[str, ...], notes: Notes) -> None:
    meter = Meter()
    messages = [Message("system", ("Answer in JSON, in few words.",)), Message("user", (f"{EVENTS}\n{QUESTION}",))]
    samples = reading.sample(
        messages,
        stage="answer",
        meter=meter,
        schema=answer_schema(choices, abstain=False),
        n=8,
        temperature=0.8,
        max_tokens=320,
        seed=1,
    )
    (call,) = meter.calls
    assert (len(samples), call.items) == (8, 8)
    assert call.completion_tokens > 8 * 10, "what all samples wrote is counted"
    whole = [sample for sample in samples if not sample.truncated]
    assert len(whole) >= 4
    assert all(set(json.loads(sample.text)) == {"reasoning", "answer", "evidence"} for sample in whole)
    assert all(parse_answer(sample.text, choices) is not None for sample in whole)
    assert len({sample.text for sample in samples}) > 1, "eight times the same is one sample"
    speed = call.completion_tokens * 1000 / call.wall_ms
    notes.add(
        f"n=8, {len(choices)} choices: {len(whole)} of 8 whole, {call.completion_tokens} tokens, {speed:.0f} a second"
    )


@pytest.mark.parametrize("role", ["seeing", "reading"])
def test_a_shared_beginning_is_read_once(role: str, request: pytest.FixtureRequest, notes: Notes) -> None:
    model: OpenAIChatModel = request.getfixturevalue(role)
    meter = Meter()
    system = Message("system", (f"Conversation {uuid4().hex}. Use only the events.\n{EVENTS}",))
    for question in (QUESTION, "Where does it take place?"):
        model.sample([system, Message("user", (question,))], stage="answer", meter=meter, max_tokens=4)
    first, second = meter.calls
    assert first.cached_tokens == 0
    assert second.cached_tokens >= CACHE_BLOCK
    # All whole blocks of the shared text, except perhaps the last.
    assert second.cached_tokens > second.prompt_tokens - 2 * CACHE_BLOCK
    notes.add(f"prefix cache ({model.name}): {second.cached_tokens} of {second.prompt_tokens} prompt tokens cached")


# --- questions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("choices", [(), ("colours change", "a dog runs", "people talk")])
def test_a_question_is_searched_and_answered(
    indexed: Indexed, settings: ModelSettings, choices: tuple[str, ...], notes: Notes
) -> None:
    models = bindings.load_answer_models(settings)
    search = settings_for("paper", models.calibration)
    search = changed(search, max_depth=2, answer_tokens=192, retrieval=replace(search.retrieval, floor=-1.0))
    answer = answer_question(
        QuestionInput("What happens in this video?", choices, effort="paper"),
        indexed.index.graph(),
        models,
        settings=search,
    )
    assert answer.finish_reason in {"answered", "insufficient_evidence"}, answer.detail
    assert answer.usage.calls
    assert all(call.ok for call in answer.usage.calls), [call for call in answer.usage.calls if not call.ok]
    drawn = asked(answer.usage.calls, "answer")
    assert any(call.items == 8 for call in drawn), "a node's eight samples are one request"
    assert sum(call.cached_tokens for call in drawn) >= CACHE_BLOCK
    assert answer.usage.cached_tokens == sum(call.cached_tokens for call in answer.usage.calls)
    assert asked(answer.usage.calls, "requery"), "RQ is an action of the paper's tree"
    nodes = [node for node in answer.nodes if node.action == "SA"]
    assert len(nodes) == 4, "the root and its three children"
    assert all(len(node.candidates) == 8 for node in nodes if not node.error)
    known = {record.event.id for record in indexed.index.events}
    assert {citation.event_id for citation in answer.citations} <= known
    if answer.finish_reason == "answered":
        assert answer.text
        assert not choices or answer.choice in range(3)
    notes.calls(f"question with {len(choices)} choices", answer.usage.calls)
    total = answer.timings.get("total", sum(answer.timings.values())) / 1000
    notes.add(f"question with {len(choices)} choices: {answer.finish_reason}, {len(answer.nodes)} nodes, {total:.1f} s")


def test_the_checker_looks_at_frames_and_draws_samples(seeing: OpenAIChatModel) -> None:
    meter = Meter()
    frames = tuple(FrameEvidence(n * 500, jpeg_of(frame(n).picture)) for n in range(12))
    request = CheckRequest(QUESTION, ("walk", "sit"), ("walk", "sit"), frames)
    schema = answer_schema(request.choices, abstain=True)
    samples = VlmChecker(seeing).check(request, n=4, schema=schema, meter=meter)
    (call,) = meter.calls
    assert (len(samples), call.items) == (4, 4)
    assert call.prompt_tokens > 12 * FRAME_TOKENS
    read = [parse_answer(sample.text, request.choices) for sample in samples if not sample.truncated]
    assert read
    assert None not in read
