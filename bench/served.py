"""An hour of video against a model server with fixed rates: the models' share of the time."""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Mapping
from typing import Any

from bench.figures import Figures, at_most
from bench.instant_models import instant_models
from bench.model_server import ModelServer, Rates, Served, answer_for
from bench.videos import HOUR, video
from gpu_workers.engine.ekg import Span, stable_id
from gpu_workers.engine.indexing.assembly import AssemblySettings
from gpu_workers.engine.indexing.memory_index import MemoryIndex
from gpu_workers.engine.indexing.pipeline import index_recording
from gpu_workers.engine.indexing.segments import Observation, Source, observe_segment
from gpu_workers.engine.models.roles import ChatCapabilities, Meter
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.events import VlmEventWriter
from gpu_workers.engine.models.served.vision import VlmDescriber

SLOTS = 16
SEGMENTS_IN_FLIGHT = 4
RATES = Rates(latency_s=0.02, prefill=40_000.0, decode=200.0)
"""Rates several times those of a server with a 7B model on one GPU, so that an hour is measured in about a minute."""
SCENE_CHUNKS = 4


def hour() -> Figures:
    path = video(HOUR)
    with ModelServer(RATES, slots=SLOTS, words=words) as server:
        model = OpenAIChatModel(
            base_url=server.url,
            model="scripted",
            capabilities=ChatCapabilities(32_768, images=True, video=True),
            concurrency=SLOTS,
        )
        models = instant_models(
            describer=VlmDescriber(model, concurrency=SLOTS),
            event_writer=VlmEventWriter(model),
        )
        index, meter = MemoryIndex(stable_id("video", path)), Meter()
        source = Source.of_file(str(path), has_audio=False)

        def observe(span: Span) -> Observation:
            return observe_segment(source, span, models, profile="general", meter=meter)

        began = time.monotonic()
        index_recording(
            observe,
            HOUR.seconds * 1000,
            models,
            index,
            video_id=index.video_id,
            meter=meter,
            in_flight=SEGMENTS_IN_FLIGHT,
            settings=AssemblySettings(parallel=SLOTS),
        )
        wall_s = time.monotonic() - began
        served = server.served()
    if served.requests < len(index.chunks) + len(index.events):
        raise AssertionError(f"{served.requests} requests for {len(index.chunks)} chunks, {len(index.events)} events")
    unavoidable_s = unavoidable(served)
    reference = (
        f"time of all {served.requests} requests ({served.service_s:.0f} s) over {SLOTS} slots, and one chain of "
        f"requests that wait for each other: {unavoidable_s:.1f} s; the hour took {wall_s:.1f} s, became "
        f"{len(index.events)} events, decoding included"
    )
    yield at_most("served_hour", wall_s / unavoidable_s, 1.15, reference)


def unavoidable(served: Served) -> float:
    """Return the minimum time of this work, with all slots busy from the first moment to the last.

    The last segment's chunks wait for the description of its first one, and the last event's text waits for theirs:
    three requests in a row.
    """
    return max(served.service_s / SLOTS, 3 * served.longest_s)


_NUMBER = itertools.count()


def words(request: Mapping[str, Any]) -> str:
    """Return descriptions that change every SCENE_CHUNKS chunks of the video, or else what the schema allows."""
    schema = request["response_format"]["json_schema"]
    answer = answer_for(schema["schema"], next(_NUMBER))
    if schema["name"] == "chunk_description":
        seconds = _seconds(request)
        answer |= {
            "description": f"scene {int(seconds / 3) // SCENE_CHUNKS} " + 20 * "someone walks on ",
            "on_screen_clock": "",
        }
    return json.dumps(answer)


def _seconds(request: Mapping[str, Any]) -> float:
    """Return the time in the video of the first shown frame, read from its label."""
    label = next(part["text"] for part in request["messages"][-1]["content"] if part["type"] == "text")
    match = re.search(r"(\d+\.\d) s", label)
    if match is None:
        raise ValueError(f"no time in {label!r}")
    return float(match[1])
