"""The price of looking: prompt tokens and calls of description, on a busy and on a still camera."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import cv2
import numpy as np

from bench.figures import Figures, at_most
from bench.index_worker import SameScene
from bench.instant_models import InstantEmbedder, instant_models
from bench.model_server import ModelServer, Rates, answer_for
from bench.served import words
from bench.videos import HOUR, TEN_MINUTES, VISIT_S, still_camera, unchanged_hour, video
from gpu_workers.engine.answering.presets import TreeSettings
from gpu_workers.engine.ekg import stable_id
from gpu_workers.engine.indexing.assembly import AssemblySettings
from gpu_workers.engine.indexing.memory_index import MemoryIndex
from gpu_workers.engine.indexing.pipeline import index_recording
from gpu_workers.engine.indexing.segments import observe_segment
from gpu_workers.engine.indexing.semantic_chunking import MAX_CHUNKS
from gpu_workers.engine.indexing.source import Source
from gpu_workers.engine.models.roles import ChatCapabilities, Meter, ModelCall
from gpu_workers.engine.models.served import vision
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.events import VlmEventWriter
from gpu_workers.engine.models.served.vision import FRAMES_PER_CHUNK, VlmDescriber
from gpu_workers.engine.retrieval.tri_view import RetrievalSettings, ViewQueries, retrieve

AT_ONCE = Rates(latency_s=0.0, prefill=1e9, decode=1e9)
PER_HOUR = 3_600 / TEN_MINUTES.seconds
AVA_TOKENS = 3_350_000
"""Prompt tokens for which the published code indexes one hour (docs/lab/benchmarks.md, Against the published code)."""
SLOTS = 16


@dataclass(frozen=True, slots=True)
class Made:
    """An index with the calls that it cost."""

    index: MemoryIndex
    calls: tuple[ModelCall, ...]

    def tokens(self, stage: str = "") -> float:
        """Return the prompt tokens for one hour of such video."""
        return PER_HOUR * sum(call.prompt_tokens for call in self.calls if stage in call.stage)


def tokens() -> Figures:
    """Measure a busy camera, so that every chunk is described."""
    made = _index(video(TEN_MINUTES), words)
    chunks, events = PER_HOUR * len(made.index.chunks), PER_HOUR * len(made.index.events)
    pictures = chunks * FRAMES_PER_CHUNK * AT_ONCE.image_tokens
    shown = chunks * FRAMES_PER_CHUNK / 2 * AT_ONCE.image_tokens
    described = made.tokens("description")
    before = described - shown + pictures
    reference = (
        f"the same requests with {FRAMES_PER_CHUNK} pictures a chunk: {before / 1e6:.2f} M prompt tokens an hour "
        f"against {described / 1e6:.2f} M with a video of {FRAMES_PER_CHUNK} frames, of which two cost one picture of "
        f"{AT_ONCE.image_tokens} tokens; measured on 10 minutes in which every chunk changes"
    )
    yield at_most("describe_tokens", described / before, 0.6, reference)
    reference = (
        f"{AVA_TOKENS / 1e6:.2f} M prompt tokens of the published code for one hour; ours are "
        f"{made.tokens() / 1e6:.2f} M in {PER_HOUR * len(made.calls):.0f} calls for {chunks:.0f} chunks and "
        f"{events:.0f} events, {AT_ONCE.image_tokens} tokens a picture; measured on 10 minutes"
    )
    yield at_most("index_tokens_vs_ava", made.tokens() / AVA_TOKENS, 0.6, reference)


def still() -> Figures:
    """Measure an empty room, into which somebody comes once in ten minutes.

    The model names what the frames show. So the index must be the same as if every chunk were described.
    """
    path = still_camera()
    kept, full = _index(path, seen), _index(path, seen, describe_all=True)
    events = [[(e.event.span, e.event.summary) for e in made.index.events] for made in (kept, full)]
    if events[0] != events[1] or not any("person" in summary for _, summary in events[0]):
        raise AssertionError(f"other events than with every chunk described: {events}")
    busy = _index(video(TEN_MINUTES), words)
    reference = (
        f"{len(busy.calls)} model calls for 10 minutes of a busy camera, against {len(kept.calls)} for 10 minutes of a "
        f"room that is empty but for {VISIT_S[1] - VISIT_S[0]} s; its {len(events[0])} events are those of describing "
        f"every chunk ({len(full.calls)} calls)"
    )
    yield at_most("static_calls", len(kept.calls) / len(busy.calls), 0.34, reference)


def still_hour() -> Figures:
    """Measure an hour of an unchanged picture: its events, the calls that describe it, and what an answer reads of it.

    The reference is the same index with no event of more than MAX_CHUNKS, and a result that may repeat itself.
    """
    path = unchanged_hour()
    made = _index(path, seen, seconds=HOUR.seconds)
    short = _index(path, seen, seconds=HOUR.seconds, settings=AssemblySettings(max_still_chunks=MAX_CHUNKS))
    events, reference = len(made.index.events), f"{len(short.index.events)} events of {MAX_CHUNKS} chunks at most"
    yield at_most("still_hour_events", events, 10, f"{reference} in an hour of an unchanged picture")
    full = HOUR.seconds // 3
    described = sum("description" in call.stage for call in made.calls)
    yield at_most(
        "still_hour_calls", described / full, 0.34, f"a call of description for each of its {full} chunks ({described})"
    )
    tokens, before = _read_by_an_answer(made, repeats=False), _read_by_an_answer(short, repeats=True)
    yield at_most(
        "still_hour_answer_tokens",
        tokens / before,
        0.25,
        f"{before} words of event text that an answer read of {reference}, now {tokens}",
    )


def _read_by_an_answer(made: Made, *, repeats: bool) -> int:
    """Return the words of the events that an answer at effort medium reads first."""
    graph, embedder = made.index.graph(), InstantEmbedder()
    retrieved = retrieve(
        graph,
        ViewQueries.same("What happens in the room?"),
        RetrievalSettings(repeats=repeats, floor=-1.0),
        text_embedder=embedder,
        frame_embedder=embedder,
        meter=Meter(),
    )
    ids = [event.event_id for event in retrieved.ranking][: TreeSettings(max_depth=2).event_cap]
    return sum(len(event.summary.split()) for event in graph.load_events(ids).values())


def _index(
    path: Path,
    answers: Any,
    *,
    describe_all: bool = False,
    seconds: int = TEN_MINUTES.seconds,
    settings: AssemblySettings | None = None,
) -> Made:
    everything = patch.object(vision, "unchanged_since", lambda chunks: [None] * len(chunks))
    with ModelServer(AT_ONCE, slots=SLOTS, words=answers) as server, everything if describe_all else nullcontext():
        model = OpenAIChatModel(
            base_url=server.url,
            model="scripted",
            capabilities=ChatCapabilities(32_768, images=True, video=True),
            concurrency=SLOTS,
        )
        models = instant_models(
            describer=VlmDescriber(model, concurrency=SLOTS),
            event_writer=VlmEventWriter(model),
            similarity=SameScene(),
        )
        index, meter = MemoryIndex(stable_id("video", path)), Meter()
        source = Source.of_file(str(path), tracks=())
        index_recording(
            lambda span: observe_segment(source, span, models, profile="general", meter=meter),
            seconds * 1000,
            models,
            index,
            video_id=index.video_id,
            meter=meter,
            settings=settings,
        )
    if len(index.chunks) != seconds // 3 or any(chunk.gap for chunk in index.chunks):
        raise AssertionError(f"{path.name}: {len(index.chunks)} chunks, with gaps")
    return Made(index, tuple(call for call in meter.calls if call.prompt_tokens))


def seen(request: Mapping[str, Any]) -> str:
    """Return what the frames of a chunk show: an empty room, or a person in red and where; else what the schema
    allows."""
    schema = request["response_format"]["json_schema"]
    answer = answer_for(schema["schema"])
    if schema["name"] == "chunk_description":
        answer |= {"description": " ".join(map(_place, _frames(request))), "on_screen_clock": "", "on_screen_text": []}
    elif "summary" in answer:
        text = "".join(part["text"] for part in request["messages"][-1]["content"] if part["type"] == "text")
        answer["summary"] = "a person walks by" if "person" in text else "an empty room"
    return json.dumps(answer)


def _frames(request: Mapping[str, Any]) -> list[np.ndarray[Any, Any]]:
    (shown,) = [part for part in request["messages"][-1]["content"] if part["type"] == "video_url"]
    jpegs = [base64.b64decode(item) for item in shown["video_url"]["url"].split(",")[1:]]
    pictures = [cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR) for jpeg in jpegs]
    return [picture for picture in pictures if picture is not None]


def _place(picture: np.ndarray[Any, Any]) -> str:
    blue, _, red = (picture[..., k].astype(int) for k in range(3))
    columns = np.nonzero((red - blue > 80).any(axis=0))[0]
    return f"person {10 * int(columns.mean()) // picture.shape[1]}" if len(columns) > 3 else "empty room"
