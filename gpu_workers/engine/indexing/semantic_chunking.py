"""Merging adjacent chunks that describe one event (AVA, section 4.2), online and in O(window) memory.

Any two chunks of an event score at least a threshold, in BERTScore F1 rescaled by the similarity's baseline. An event
that changes ends after MAX_CHUNKS. Where nothing changes, the next event would be the same again, against the second
criterion of section 4.2: neighbours are to differ at their boundary. So such an event goes on, up to MAX_STILL_CHUNKS.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gpu_workers.engine.ekg import Chunk
from gpu_workers.engine.models.observer.clock import without_clocks
from gpu_workers.engine.models.roles import Meter, Similarity

MAX_CHUNKS = 8
"""Maximum number of chunks of an event that changes, 24 s, as in the authors' code."""

MAX_STILL_CHUNKS = 200
"""Maximum number of chunks of an event in which nothing changes, ten minutes: so long a live camera may show nothing
new before its index says so."""

STILL = 0.9
"""Minimum score of a chunk that repeats an event. Near-equal sentences score so; descriptions of one busy scene do not.
"""

_SLICE = 64
"""Number of chunks that are encoded and scored together; it bounds memory for any number of pushed chunks."""


@dataclass(frozen=True, slots=True)
class _Member:
    """A chunk of the open event and its similarity to each member before it, oldest first."""

    chunk: Chunk
    encoded: object | None
    scores: tuple[float, ...]


class SemanticChunker:
    """Groups chunks as they come.

    threshold: minimum rescaled F1 of any two chunks of a group (Calibration.thresholds.merge). push() and extend()
    return the groups that no later chunk can change. A checkpoint must keep `pending`: a new chunker that takes these
    chunks first gives the same groups. A group is a described event or a run of gaps with one code, never both; it has
    at most max_chunks, or max_still_chunks if its later ones repeat it. Each text is encoded once.
    """

    def __init__(
        self,
        similarity: Similarity,
        threshold: float,
        max_chunks: int = MAX_CHUNKS,
        *,
        max_still_chunks: int = MAX_STILL_CHUNKS,
        meter: Meter | None = None,
    ) -> None:
        if max_chunks < 1:
            raise ValueError("an event has at least one chunk")
        self._similarity, self._threshold, self._max = similarity, threshold, max_chunks
        self._max_still = max_still_chunks
        self._meter = meter or Meter()
        self._open: list[_Member] = []

    @property
    def pending(self) -> tuple[Chunk, ...]:
        return tuple(member.chunk for member in self._open)

    def push(self, chunk: Chunk) -> list[tuple[Chunk, ...]]:
        return self.extend([chunk])

    def extend(self, chunks: Sequence[Chunk]) -> list[tuple[Chunk, ...]]:
        """Take chunks and return the groups that they finish, in order. Raises ValueError unless chunk numbers rise."""
        numbers = [*(member.chunk.n for member in self._open[-1:]), *(chunk.n for chunk in chunks)]
        if any(after <= before for before, after in pairwise(numbers)):
            raise ValueError(f"chunks come in order and once, got {numbers}")
        finished: list[tuple[Chunk, ...]] = []
        for begin in range(0, len(chunks), _SLICE):
            for member in self._scored(chunks[begin : begin + _SLICE]):
                finished.extend(self._add(member))
        return finished

    def flush(self) -> list[tuple[Chunk, ...]]:
        """Return the open group, if any, since the video has ended."""
        group, self._open = self.pending, []
        return [group] if group else []

    # --- similarity ------------------------------------------------------------------------------------------------

    def _scored(self, chunks: Sequence[Chunk]) -> Iterator[_Member]:
        """Yield chunks with their similarity to every chunk less than max_chunks before; one encode and one score
        call."""
        open_rows = [(member.chunk, member.encoded) for member in self._open]
        by_text = {chunk.description: encoded for chunk, encoded in open_rows if encoded is not None}
        new_texts = list(dict.fromkeys(c.description for c in chunks if c.description and c.description.strip()))
        new_texts = [text for text in new_texts if text not in by_text]
        if new_texts:
            by_text.update(zip(new_texts, self._similarity.encode(new_texts, meter=self._meter), strict=True))
        row = open_rows + [(chunk, by_text.get(chunk.description)) for chunk in chunks]
        pairs = [(i, j) for j in range(len(open_rows), len(row)) for i in range(max(0, j - self._max + 1), j)]
        values = self._similarities([(row[i], row[j]) for i, j in pairs])
        scores: dict[int, list[float]] = {}
        for (_, j), value in zip(pairs, values, strict=True):
            scores.setdefault(j, []).append(value)
        for j in range(len(open_rows), len(row)):
            yield _Member(row[j][0], row[j][1], tuple(scores.get(j, ())))

    def _similarities(
        self, pairs: Sequence[tuple[tuple[Chunk, object | None], tuple[Chunk, object | None]]]
    ) -> list[float]:
        """Return the rescaled F1 of each (earlier, later) pair. Equal texts score 1 and an empty text 0, whatever the
        model makes of them."""
        values = [
            1.0 if a[0].description == b[0].description and a[0].description is not None else 0.0 for a, b in pairs
        ]
        unequal = [k for k, (a, b) in enumerate(pairs) if values[k] == 0.0 and a[1] is not None and b[1] is not None]
        if not unequal:
            return values
        scores = self._similarity.score([pairs[k][0][1] for k in unequal], [pairs[k][1][1] for k in unequal])
        rescaled = (scores.f1 - self._similarity.baseline) / (1.0 - self._similarity.baseline)
        for k, value in zip(unequal, np.asarray(rescaled, dtype=np.float64), strict=True):
            values[k] = float(value)
        return values

    # --- grouping --------------------------------------------------------------------------------------------------

    def _add(self, member: _Member) -> list[tuple[Chunk, ...]]:
        size = len(self._open)
        # Only similarities to members of the open group count.
        member = _Member(
            member.chunk, member.encoded, member.scores[len(member.scores) - min(size, len(member.scores)) :]
        )
        if size and _may_join(self._open[-1].chunk, member.chunk) and self._belongs(member):
            self._open.append(member)
            return []
        done, self._open = self.pending, [_Member(member.chunk, member.encoded, ())]
        return [done] if done else []

    def _belongs(self, member: _Member) -> bool:
        if len(self._open) >= self._max and not self._repeats(member):
            return False
        return member.chunk.description is None or min(member.scores, default=1.0) >= self._threshold

    def _repeats(self, member: _Member) -> bool:
        """Whether a chunk says nothing that the open event, already at its usual length, has not said.

        The first chunk is compared as well, so that slow changes add up until they count.
        """
        chunk, first = member.chunk, self._open[0]
        if len(self._open) >= self._max_still:
            return False
        if any(_words(each) != _words(first.chunk) for each in (*self._recent(), chunk)):
            return False
        if chunk.description is None:
            return True
        (from_first,) = self._similarities([((first.chunk, first.encoded), (chunk, member.encoded))])
        if min((*member.scores, from_first)) >= STILL:
            return True
        # The pictures of most of the event are equal up to noise, and a model found other words for the same.
        kept = sum(each.chunk.inherited for each in self._open)
        return 2 * kept >= len(self._open) and from_first >= self._threshold

    def _recent(self) -> list[Chunk]:
        return [member.chunk for member in self._open[-self._max :]]


def _may_join(before: Chunk, after: Chunk) -> bool:
    """Whether two chunks are adjacent in time, and both described or both missing for one reason."""
    return after.n == before.n + 1 and before.gap == after.gap


def _words(chunk: Chunk) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what was said and what was written."""
    return tuple(line.text for line in chunk.transcript), without_clocks(chunk.on_screen_text)
