"""The running time of a scope as one line, and the moments of a first glance at it (VideoAgent, section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.ekg import Span

SECOND_MS = 1_000


@dataclass(frozen=True, slots=True)
class Stretch:
    """What may be read of one video. number: counted from 1. begins_at: milliseconds of all stretches before it."""

    number: int
    video_id: UUID
    span: Span
    begins_at: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """The videos of a scope one after the other, in order of id. A position is in ms from the first one's beginning."""

    stretches: tuple[Stretch, ...]

    @classmethod
    def of(cls, extents: Mapping[UUID, Span]) -> Timeline:
        """Return the timeline of a graph's extents()."""
        stretches: list[Stretch] = []
        begins_at = 0
        for number, (video_id, span) in enumerate(sorted(extents.items()), start=1):
            stretches.append(Stretch(number, video_id, span, begins_at))
            begins_at += span.duration_ms
        return cls(tuple(stretches))

    @property
    def total_ms(self) -> int:
        last = self.stretches[-1] if self.stretches else None
        return last.begins_at + last.span.duration_ms if last else 0

    def moment(self, position: int) -> tuple[UUID, int]:
        """Return the video and its ms at a position, 0 <= position < total_ms. Raises ValueError elsewhere."""
        for stretch in self.stretches:
            past = position - stretch.begins_at
            if 0 <= past < stretch.span.duration_ms:
                return stretch.video_id, stretch.span.start_ms + past
        raise ValueError(f"no position {position} on a timeline of {self.total_ms} ms")


def glance(total_ms: int, count: int, *, ends: bool = False) -> list[int]:
    """Return the positions in ms of at most count moments of a first glance, in order, each once.

    They are the middles of count equal parts. ends: count of the whole seconds instead, evenly chosen with the first
    and the last (VideoAgent, section 4.2: the released code counts them from 1 and drops fractions).
    """
    if total_ms <= 0 or count <= 0:
        return []
    if not ends:
        return list(dict.fromkeys((2 * n + 1) * total_ms // (2 * count) for n in range(count)))
    seconds = max(1, total_ms // SECOND_MS)
    steps = max(1, count - 1)
    return list(dict.fromkeys(n * (seconds - 1) // steps * SECOND_MS for n in range(count)))
