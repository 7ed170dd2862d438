"""An hour of video through the deployed service against a model server with fixed rates: how busy is the server?"""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Mapping
from typing import Any

from bench.figures import Figure, Figures, at_most
from bench.model_server import ModelServer, Rates, Served, answer_for
from bench.service import index, service
from bench.videos import HOUR, video

SEVEN_B = Rates(latency_s=0.02, prefill=8_000.0, decode=60.0)
"""Rates of a server with a 7B model on one GPU."""
SCENE_CHUNKS = 4
CHAIN = 3
"""Number of requests that wait for each other at the end: the last segment's first description, the descriptions of its
other chunks, and the last event."""


def hour_of_tasks() -> Figures:
    """Measure one worker process of threads, as each GPU machine has one, and a server with 16 slots."""
    yield _measured("served_hour_tasks", SEVEN_B, slots=16, segments=8, target=1.15)


def hour_of_tasks_with_64_slots() -> Figures:
    """Measure the same against 64 slots of a quarter of the rates, so that the same work takes as long."""
    slower = Rates(4 * SEVEN_B.latency_s, SEVEN_B.prefill / 4, SEVEN_B.decode / 4)
    yield _measured("served_hour_tasks_64_slots", slower, slots=64, segments=20, target=1.3)


def _measured(name: str, rates: Rates, *, slots: int, segments: int, target: float) -> Figure:
    path = video(HOUR)
    worker = [sys.executable, "-m", "bench.index_worker", "--queues=gpu.index", "--loglevel=INFO"]
    worker += ["--hostname=worker-index@%h", "--pool=threads", f"--concurrency={segments}"]
    with ModelServer(rates, slots=slots, words=words) as server:
        with service(worker, DESCRIBER_URL=server.url, MODEL_CONCURRENCY="64") as client:
            made = index(client, path)
            chunks = sum(1 for _ in client.pages(f"/videos/{made['id']}/chunks"))
            events = sum(1 for _ in client.pages(f"/videos/{made['id']}/events"))
        served = server.served()
    if chunks != HOUR.seconds // 3 or served.requests < chunks + events:
        raise AssertionError(f"{served.requests} requests for {chunks} chunks and {events} events")
    wall_s, unavoidable_s = made["timings"]["index_ms"] / 1000, unavoidable(served, slots)
    reference = (
        f"time of all {served.requests} requests ({served.service_s:.0f} s) over {slots} slots, and one chain of "
        f"requests that wait for each other: {unavoidable_s:.1f} s; the hour took {wall_s:.1f} s from the probe to "
        f"ready, through API, queue, Postgres and S3, with one worker process that observes {segments} segments at "
        f"once; {events} events; a slot reads {rates.prefill:g} and writes {rates.decode:g} tokens/s; at most "
        f"{served.most_waiting} requests waited for a slot"
    )
    return at_most(name, wall_s / unavoidable_s, target, reference)


def unavoidable(served: Served, slots: int) -> float:
    """Return the minimum time of this work, with all slots busy from the first moment to the last."""
    return max(served.service_s / slots, CHAIN * served.longest_s)


_NUMBER = itertools.count()


def words(request: Mapping[str, Any]) -> str:
    """Return descriptions, each its own, of scenes of SCENE_CHUNKS chunks, or else what the schema allows; "Yes." to a
    request without a schema, as a worker asks to learn what a server does."""
    if "response_format" not in request:
        return "Yes."
    schema = request["response_format"]["json_schema"]
    answer = answer_for(schema["schema"], next(_NUMBER))
    if schema["name"] == "chunk_description":
        seconds = _seconds(request)
        answer |= {
            "description": f"scene {int(seconds / 3) // SCENE_CHUNKS} at {seconds:.0f} s " + 20 * "someone walks on ",
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
