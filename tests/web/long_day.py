"""A video of ten hours with as many events, lines and objects as such a video has."""

from __future__ import annotations

import random
from uuid import UUID

from uuid6 import uuid7

from backend.ekg.models import Event, IndexRow, Topic, TrackedObject, TranscriptLine
from backend.library.models import IndexState, IndexVersion, Video, VideoStatus
from tests.conftest import Cast
from tests.ekg.recorded import MODEL, VECTOR

HOURS_MS = 10 * 3_600_000
EVENTS, LINES, SPANS, TOPICS = 1_500, 10_000, 5_000, 60
CATEGORIES = ("person", "car", "truck", "dog", "bicycle", "bag", "bus", "traffic light")
SPANS_OF_AN_OBJECT = 5
COUNTED = """() => {
  window.drawn = 0;
  for (const name of ["fillRect", "fill", "stroke", "strokeRect", "fillText"]) {
    const real = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...given) {
      window.drawn += 1;
      return real.apply(this, given);
    };
  }
}"""
"""Counts everything that is drawn on canvases from now on."""


def long_day(cast: Cast, length_ms: int = HOURS_MS) -> UUID:
    """Write the video with its index, and return its id."""
    chance = random.Random(5)
    with cast.scope():
        video_id: UUID = Video.objects.create(
            tenant_id=cast.tenant_id, object_key="t/x", size_bytes=5, title="A day at the gate", duration_ms=length_ms,
            status=VideoStatus.READY, indexed_until_ms=length_ms,
        ).id  # fmt: skip
        of = {"tenant_id": cast.tenant_id, "video_id": video_id, "index_version": 1}
        vector = {"embedding": VECTOR, "embedding_model": MODEL}
        IndexVersion.objects.create(tenant_id=cast.tenant_id, video_id=video_id, n=1, state=IndexState.READY)
        step = length_ms // EVENTS
        _write(Event, [
            {**of, **vector, "n": n, "start_ms": n * step, "end_ms": (n + 1) * step, "first_chunk": n,
             "end_chunk": n + 1, "summary": f"Somebody enters by the gate for the {n + 1}th time."}
            for n in range(EVENTS)
        ])  # fmt: skip
        step = length_ms // TOPICS
        _write(Topic, [
            {**of, "n": n, "start_ms": n * step, "end_ms": (n + 1) * step, "first_event": 0, "end_event": 1,
             "title": f"Part {n + 1} of the day", "summary": "People pass the gate."}
            for n in range(TOPICS)
        ])  # fmt: skip
        _write(TranscriptLine, [
            {**of, "start_ms": at, "end_ms": at + 2_500, "text": f"Line {n}", "words": []}
            for n, at in enumerate(sorted(chance.sample(range(length_ms - 2_500), LINES)))
        ])  # fmt: skip
        objects = []
        for n in range(SPANS // SPANS_OF_AN_OBJECT):
            starts = sorted(chance.randrange(length_ms - 60_000) for _ in range(SPANS_OF_AN_OBJECT))
            spans = [[start, start + chance.randrange(1_000, 60_000)] for start in starts]
            objects.append(
                {**of, "n": n, "category": CATEGORIES[n % len(CATEGORIES)], "colour": "", "start_ms": spans[0][0],
                 "end_ms": spans[-1][1], "spans": spans, "segments": [0], "tracks": 1, "observations": 1, "entries": 1,
                 "confidence": 1.0}
            )  # fmt: skip
        _write(TrackedObject, objects)
    return video_id


def _write(model: type[IndexRow], rows: list[dict[str, object]]) -> None:
    model.objects.bulk_create(model(id=uuid7(), **row) for row in rows)
