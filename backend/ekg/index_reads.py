"""Reads of a version that is being built, for the index tasks, inside the open tenant_scope."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from backend.ekg.models import Chunk, Event, Overview
from backend.ekg.reader import read_chunk, transcript_between
from backend.library.models import Segment
from gpu_workers.engine import ekg


def chunks_of(segments: Sequence[Segment]) -> list[ekg.Chunk]:
    """Return the chunks of adjacent segments of one version, in order, with the speech in them."""
    first, last = segments[0], segments[-1]
    rows = Chunk.objects.filter(
        video_id=first.video_id, index_version=first.index_version, segment_n__gte=first.n, segment_n__lte=last.n
    ).order_by("n")
    lines = transcript_between(first.video_id, first.index_version, first.start_ms, last.end_ms)
    return [read_chunk(row, lines) for row in rows]


def last_event(video_id: UUID, version: int) -> tuple[int, int] | None:
    """Return number and end (ms) of the version's last event; None before there is one."""
    rows = Event.objects.filter(video_id=video_id, index_version=version)
    last: tuple[int, int] | None = rows.order_by("-n").values_list("n", "end_ms").first()
    return last


def summarised_until_ms(video_id: UUID, version: int) -> int:
    """Return where the stored overview ends, in milliseconds; 0 without an overview."""
    rows = Overview.objects.filter(video_id=video_id, index_version=version)
    return rows.values_list("until_ms", flat=True).first() or 0
