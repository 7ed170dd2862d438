"""The engine's own code against real vLLM servers of a preset: `make test-vllm` runs these tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import numpy as np
import pytest
import torch
from PIL import Image as PILImage
from transformers import AutoModel, AutoProcessor, AutoTokenizer, SiglipModel

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.answering.parsing import answer_schema, parse_answer
from gpu_workers.engine.answering.presets import changed, settings_for
from gpu_workers.engine.ekg import Picture, SampledFrame, Span
from gpu_workers.engine.indexing.global_summary import summarise
from gpu_workers.engine.models import bindings
from gpu_workers.engine.models.capabilities import report_of
from gpu_workers.engine.models.model_table import preset
from gpu_workers.engine.models.observer.tracked import TrackedDescriber
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
    Video,
)
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.embeddings import ServedFrameEmbedder, ServedTextEmbedder
from gpu_workers.engine.models.served.events import VlmEventWriter
from gpu_workers.engine.models.served.vision import VlmChecker, VlmDescriber
from gpu_workers.engine.models.settings import ModelSettings
from infra.vllm import environment, servers
from infra.vllm.servers import CONTEXT_TOKENS, IMAGES, Served
from tests.engine.indexing.media import solid
from tests.infra.vllm.conftest import Indexed, Notes

if not os.environ.get("AVA_TEST_VLLM"):
    pytest.skip("make test-vllm sets up and starts the vLLM servers of these tests", allow_module_level=True)

FRAME_TOKENS = 60 + 2
"""Tokens of a picture of 320 x 180, which becomes 320 x 192: 10 x 6 patches of 32 x 32, and two marks at its ends."""
TIME_TOKENS = 6
"""Tokens of "<0.2 seconds>", which Qwen3-VL puts before every two frames of a video, with this vocabulary."""
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


def test_the_preset_indexes_a_video(indexed: Indexed, models: IndexModels) -> None:
    kinds = (type(models.describer), type(models.event_writer), type(models.text_embedder), type(models.frame_embedder))
    assert kinds == (TrackedDescriber, VlmEventWriter, ServedTextEmbedder, ServedFrameEmbedder)
    assert models.describer.name == f"{preset(servers.PRESET).servers['vlm'].model}+tracks"
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
    own = [chunk for chunk in indexed.index.chunks if not chunk.inherited]
    assert len(described) >= len(own)
    assert len(own) < len(indexed.index.chunks), "the colour bars stand still"
    assert all(call.prompt_tokens > 3 * (FRAME_TOKENS + TIME_TOKENS) for call in described), (
        "six frames of each arrived"
    )
    written = [*asked(indexed.calls, "event"), *asked(indexed.calls, "entities")]
    assert len(written) >= len(indexed.index.events)
    assert all(call.prompt_tokens > FRAME_TOKENS for call in written), "the model was shown frames"
    for call in indexed.calls:
        assert 0 <= call.cached_tokens <= call.prompt_tokens
    assert any(call.cached_tokens >= CACHE_BLOCK for call in described), "chunks share their instructions"
    vectors = [call for call in indexed.calls if call.stage == "embedding"]
    assert {call.model for call in vectors} == {
        preset(servers.PRESET).servers[name].model for name in ("text-embedder", "frame-embedder")
    }
    assert all(call.prompt_tokens for call in vectors)


def test_the_narrator_summarises_the_indexed_events(indexed: Indexed, models: IndexModels, notes: Notes) -> None:
    meter = Meter()
    warnings = summarise(indexed.index, models.narrator, models.text_embedder, profile="general", meter=meter)
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


def prompt_of(model: OpenAIChatModel, *parts: str | Image | Video, salt: str = "") -> ModelCall:
    meter = Meter(cache_salt=salt)
    model.sample([Message("user", parts)], stage="count", meter=meter, max_tokens=1)
    return meter.calls[0]


def video_of(frames: int, *, from_ms: int = 0) -> Video:
    jpegs = tuple(jpeg_of(frame(n).picture) for n in range(frames))
    return Video(jpegs, tuple(from_ms + 500 * n for n in range(frames)))


def test_two_frames_of_a_video_cost_as_much_as_one_picture(seeing: OpenAIChatModel, notes: Notes) -> None:
    bare = prompt_of(seeing, "What do you see?").prompt_tokens
    # More than the 32 frames that vLLM would keep on its own.
    counted = {n: prompt_of(seeing, video_of(n), "What do you see?").prompt_tokens - bare for n in (2, 3, 6, 12, 40)}
    pictures = [Image(image) for image in video_of(6).frames]
    images = prompt_of(seeing, *pictures, "What do you see?").prompt_tokens - bare
    notes.add(f"prompt tokens of a video by number of frames: {counted}; of 6 frames as pictures: {images}")
    for frames, tokens in counted.items():
        pairs = (frames + 1) // 2
        # Times of 10 s and more have more digits.
        assert pairs * (FRAME_TOKENS + TIME_TOKENS) <= tokens <= pairs * (FRAME_TOKENS + TIME_TOKENS + 2)
    assert images == 6 * FRAME_TOKENS
    assert counted[6] <= 0.6 * images


def test_the_model_reads_when_the_frames_were_taken(seeing: OpenAIChatModel) -> None:
    nonce = uuid4().hex
    text = "What do you see? " * 40
    early, again, late = (prompt_of(seeing, nonce, video_of(6, from_ms=ms), text) for ms in (2_000, 2_000, 3_000))
    # "<2.2 seconds>" has as many tokens as "<3.2 seconds>"; another time is another prompt.
    assert early.prompt_tokens == late.prompt_tokens
    assert again.cached_tokens >= CACHE_BLOCK
    assert late.cached_tokens == 0
    hours = prompt_of(seeing, nonce, video_of(6, from_ms=36_000_000), text)
    assert early.prompt_tokens < hours.prompt_tokens <= early.prompt_tokens + 3 * 5


def test_tenants_share_no_block_of_the_cache(seeing: OpenAIChatModel, reading: OpenAIChatModel) -> None:
    question = f"{EVENTS}\n{QUESTION} {uuid4().hex}"
    for model in (seeing, reading):
        calls = [prompt_of(model, question, salt=salt * 43) for salt in ("a", "a", "b", "b")]
        assert [call.cached_tokens >= CACHE_BLOCK for call in calls] == [False, True, False, True]
        assert [calls[0].cached_tokens, calls[2].cached_tokens] == [0, 0]


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
    def failure(model: OpenAIChatModel, *parts: str | Image) -> tuple[str, bool]:
        with pytest.raises(ModelError) as caught:
            model.sample([Message("user", parts)], stage="refused", meter=Meter(), max_tokens=8)
        return caught.value.code, caught.value.retryable

    def bound(**changes: Any) -> OpenAIChatModel:
        role = replace(settings.reasoner, **changes)
        return OpenAIChatModel(base_url=role.url, model=role.model, api_key=role.api_key)

    picture = Image(jpeg_of(frame(0).picture))
    assert failure(reading, "word " * 9_000) == ("context_exceeded", False)
    assert failure(seeing, *[picture] * (IMAGES + 1)) == ("model_bad_request", False)
    # Faults of the settings: whoever changes them lets the same request pass.
    assert failure(bound(model="another"), "hello") == ("model_misconfigured", True)
    assert failure(bound(api_key="wrong"), "hello") == ("model_misconfigured", True)


def test_no_path_that_reads_text_is_open_to_a_client_without_the_key(served: dict[str, Served]) -> None:
    paths = ("/v1/models", "/v1/chat/completions", "/v1/embeddings", "/tokenize", "/pooling", "/invocations", "/docs")
    for server in served.values():
        root = server.url.removesuffix("/v1")
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            refused = [httpx.post(root + path, json={"model": server.model}, headers=headers) for path in paths]
            assert [answer.status_code for answer in refused] == [401] * len(paths)
        assert httpx.get(f"{root}/health").status_code == 200


def test_a_server_fetches_no_address_that_a_request_names(served: dict[str, Served]) -> None:
    server = served["vlm"]
    picture = {"type": "image_url", "image_url": {"url": f"{server.url.removesuffix('/v1')}/health"}}
    body = {"model": server.model, "messages": [{"role": "user", "content": [picture]}], "max_tokens": 1}
    headers = {"Authorization": f"Bearer {server.key}"}
    answer = httpx.post(f"{server.url}/chat/completions", json=body, headers=headers, timeout=60)
    assert answer.status_code == 400
    assert "none.invalid" in answer.text


def test_the_check_holds_while_the_model_answers_under_its_name_and_key(served: dict[str, Served]) -> None:
    for name, server in served.items():
        env = servers.server_environment(name, Path("/nowhere"), httpx.URL(server.url).port or 0, server.key)
        # The folder is the server's business; the name is the table's.
        env["MODEL_SERVER_MODEL"] = server.model
        command = servers.launcher_command(Path(sys.executable), name, ["--check"])
        checked = [
            subprocess.run(command, env={**env, **more}, capture_output=True, text=True, check=False)
            for more in ({}, {"MODEL_API_KEY": "wrong"}, {"MODEL_SERVER_NAME": "another"})
        ]
        assert [done.returncode for done in checked] == [0, 1, 1], checked[0].stderr
        assert ["401" in checked[1].stderr, "404" in checked[2].stderr] == [True, True]


def test_the_servers_say_what_they_do(settings: ModelSettings) -> None:
    seeing, reading = report_of(settings.describer).capabilities, report_of(settings.reasoner).capabilities
    assert (seeing.context_tokens, reading.context_tokens) == (CONTEXT_TOKENS["vlm"], CONTEXT_TOKENS["llm"])
    assert (seeing.images, seeing.video, reading.images, reading.video) == (True, True, False, False)
    for abilities in (seeing, reading):
        assert (abilities.schemas, abilities.samples, abilities.log_probabilities) == (True, True, True)


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


# --- vectors --------------------------------------------------------------------------------------------------------

TEXTS = ("a man walks past a shop", "two dogs run", "a man walks past a shop and waits near the pole")


def test_served_text_vectors_are_those_of_the_model(models: IndexModels, settings: ModelSettings) -> None:
    folder = environment.model_of("text-embedder", Path(os.environ["AVA_TEST_VLLM"]))
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    meter = Meter()
    rows = models.text_embedder.embed([*TEXTS, ""], meter=meter)
    with torch.no_grad():
        # bge-m3 takes the first token.
        wanted = torch.cat([model(**tokenizer(text, return_tensors="pt")).last_hidden_state[:, 0] for text in TEXTS])
    cosines = (rows[:-1] * torch.nn.functional.normalize(wanted, dim=1).numpy()).sum(axis=1)
    assert cosines.min() > 0.999
    assert not rows[-1].any()
    assert max(float(rows[a] @ rows[b]) for a, b in ((0, 1), (0, 2), (1, 2))) < 0.99, "texts are told apart"
    assert (models.text_embedder.name, meter.calls[0].items) == (settings.text_embedder.model, 3)
    # A text beyond the window is cut, not refused.
    assert np.linalg.norm(models.text_embedder.embed(["walks " * 400], meter=Meter())) == pytest.approx(1, abs=1e-5)


def test_served_frame_vectors_are_those_of_the_model(models: IndexModels) -> None:
    folder = environment.model_of("frame-embedder", Path(os.environ["AVA_TEST_VLLM"]))
    model: Any = SiglipModel.from_pretrained(folder)
    model.eval()
    processor: Any = AutoProcessor.from_pretrained(folder)  # type: ignore[no-untyped-call]
    noise = np.random.default_rng(0).integers(0, 255, (3, 6, 6, 3), dtype=np.uint8)
    # The model's own size, in squares of a JPEG block, so that neither scaling nor compression changes much.
    pictures = [np.kron(picture, np.ones((16, 16, 1), np.uint8)) for picture in noise]
    rows = models.frame_embedder.embed_frames(pictures, meter=Meter())
    queries = [models.frame_embedder.embed_query(text.upper(), meter=Meter()) for text in TEXTS]
    with torch.no_grad():
        images = model.get_image_features(
            **processor(images=[PILImage.fromarray(p) for p in pictures], return_tensors="pt")
        )
        padded = processor.tokenizer(list(TEXTS), padding="max_length", max_length=64, return_tensors="pt")
        texts = model.get_text_features(input_ids=padded["input_ids"])

    def cosines(found: Any, wanted: Any) -> list[float]:
        wanted = getattr(wanted, "pooler_output", wanted)
        return [float(a @ b) for a, b in zip(found, torch.nn.functional.normalize(wanted, dim=1).numpy(), strict=True)]

    assert min(cosines(rows, images)) > 0.98
    assert max(float(rows[a] @ rows[b]) for a, b in ((0, 1), (0, 2), (1, 2))) < 0.98, "pictures are told apart"
    assert min(cosines(queries, texts)) > 0.999


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
