"""Merging adjacent chunks that describe one event (AVA, section 4.2), online and in O(window) memory.

Three rules, so that the paper and its code can be compared with what we use (names as in the settings):

paper: any two chunks of an event score at least tau (raw F1), and the chunks on both sides of a boundary score below
    tau_out. Where a chunk fits its neighbour but not the whole event, the boundary moves back to the weakest place.
code: a chunk joins while the mean of all pairs and the last adjacent pair are above tau (raw recall).
ours: any two chunks of an event score at least tau (F1 rescaled by the similarity's baseline).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np

from gpu_workers.engine.ekg import Chunk
from gpu_workers.engine.models.roles import Meter, Similarity

MAX_CHUNKS = 8
"""An event of at most 24 s, as the authors' code has it."""

RAW_THRESHOLD = 0.65
"""AVA, section 4.2."""

RESCALED_THRESHOLDS: Mapping[str, float] = {"deberta": 0.275, "minilm": 0.65}
"""By a part of the similarity's name.

deberta: 0.65 raw on deberta-xlarge-mnli with its baseline of 0.517. minilm: measured on the observer's descriptions of
nine short videos; 92 % of 53 adjacent pairs of one video are above it, and 13 % of 1,653 pairs of two videos, most of
those being the same sentence that nothing was detected.
"""
RESCALED_THRESHOLD = 0.275

_SLICE = 64
"""Chunks that are encoded and scored together; bounds memory whatever the caller pushes."""


class MergeRule(StrEnum):
    PAPER = "paper"
    CODE = "code"
    OURS = "ours"


def default_threshold(rule: MergeRule, similarity: str) -> float:
    """tau of rule for the similarity of that name."""
    if rule is not MergeRule.OURS:
        return RAW_THRESHOLD
    return next((tau for part, tau in RESCALED_THRESHOLDS.items() if part in similarity.lower()), RESCALED_THRESHOLD)


@dataclass(frozen=True, slots=True)
class _Member:
    """A chunk of the open event and its similarity to each member before it, oldest first."""

    chunk: Chunk
    encoded: object | None
    scores: tuple[float, ...]


class SemanticChunker:
    """Groups chunks as they come.

    push() and extend() return the groups that no later chunk can change; pending is what a checkpoint must keep:
    a new chunker that is fed the pending chunks first gives the same groups. A group is a described event or a run of
    gaps with one code, never both; it has at most max_chunks. Each text is encoded once.
    """

    def __init__(
        self,
        similarity: Similarity,
        rule: MergeRule = MergeRule.OURS,
        threshold: float | None = None,
        max_chunks: int = MAX_CHUNKS,
        *,
        boundary_threshold: float | None = None,
        meter: Meter | None = None,
    ) -> None:
        if max_chunks < 1:
            raise ValueError("an event has at least one chunk")
        self._similarity, self._rule, self._max = similarity, rule, max_chunks
        self._tau = default_threshold(rule, similarity.name) if threshold is None else threshold
        self._tau_out = self._tau if boundary_threshold is None else boundary_threshold
        self._meter = meter or Meter()
        self._open: list[_Member] = []

    @property
    def pending(self) -> tuple[Chunk, ...]:
        return tuple(member.chunk for member in self._open)

    def push(self, chunk: Chunk) -> list[tuple[Chunk, ...]]:
        return self.extend([chunk])

    def extend(self, chunks: Sequence[Chunk]) -> list[tuple[Chunk, ...]]:
        """Groups finished by chunks, in order. Raises ValueError unless chunk numbers rise."""
        numbers = [*(member.chunk.n for member in self._open[-1:]), *(chunk.n for chunk in chunks)]
        if any(after <= before for before, after in pairwise(numbers)):
            raise ValueError(f"chunks come in order and once, got {numbers}")
        finished: list[tuple[Chunk, ...]] = []
        for begin in range(0, len(chunks), _SLICE):
            for member in self._scored(chunks[begin : begin + _SLICE]):
                finished.extend(self._add(member))
        return finished

    def flush(self) -> list[tuple[Chunk, ...]]:
        """The open group, if any: the video has ended."""
        group, self._open = self.pending, []
        return [group] if group else []

    # --- similarity ------------------------------------------------------------------------------------------------

    def _scored(self, chunks: Sequence[Chunk]) -> Iterator[_Member]:
        """chunks with their similarity to every chunk less than max_chunks before; one encode and one score call."""
        known = [(member.chunk, member.encoded) for member in self._open]
        by_text = {chunk.description: encoded for chunk, encoded in known if encoded is not None}
        new_texts = list(dict.fromkeys(c.description for c in chunks if c.description and c.description.strip()))
        new_texts = [text for text in new_texts if text not in by_text]
        if new_texts:
            by_text.update(zip(new_texts, self._similarity.encode(new_texts, meter=self._meter), strict=True))
        row = known + [(chunk, by_text.get(chunk.description)) for chunk in chunks]
        pairs = [(i, j) for j in range(len(known), len(row)) for i in range(max(0, j - self._max + 1), j)]
        values = self._similarities([(row[i], row[j]) for i, j in pairs])
        scores: dict[int, list[float]] = {}
        for (_, j), value in zip(pairs, values, strict=True):
            scores.setdefault(j, []).append(value)
        for j in range(len(known), len(row)):
            yield _Member(row[j][0], row[j][1], tuple(scores.get(j, ())))

    def _similarities(
        self, pairs: Sequence[tuple[tuple[Chunk, object | None], tuple[Chunk, object | None]]]
    ) -> list[float]:
        """The rule's similarity of each (earlier, later) pair. Equal texts are 1 and an empty text is like nothing,
        whatever the model makes of them."""
        values = [
            1.0 if a[0].description == b[0].description and a[0].description is not None else 0.0 for a, b in pairs
        ]
        asked = [k for k, (a, b) in enumerate(pairs) if values[k] == 0.0 and a[1] is not None and b[1] is not None]
        if not asked:
            return values
        scores = self._similarity.score([pairs[k][0][1] for k in asked], [pairs[k][1][1] for k in asked])
        found = scores.recall if self._rule is MergeRule.CODE else scores.f1
        if self._rule is MergeRule.OURS:
            found = (found - self._similarity.baseline) / (1.0 - self._similarity.baseline)
        for k, value in zip(asked, np.asarray(found, dtype=np.float64), strict=True):
            values[k] = float(value)
        return values

    # --- grouping --------------------------------------------------------------------------------------------------

    def _add(self, member: _Member) -> list[tuple[Chunk, ...]]:
        size = len(self._open)
        # Of the band, only the members of the open group count.
        member = _Member(
            member.chunk, member.encoded, member.scores[len(member.scores) - min(size, len(member.scores)) :]
        )
        if not self._open:
            return self._cut(0, member)
        if size >= self._max or not _may_join(self._open[-1].chunk, member.chunk):
            return self._cut(size, member)
        if member.chunk.description is None or self._fits(member):
            self._open.append(member)
            return []
        return self._cut(self._boundary(member), member)

    def _fits(self, member: _Member) -> bool:
        if self._rule is not MergeRule.CODE:
            return min(member.scores) >= self._tau
        pairs = [score for other in self._open for score in other.scores] + list(member.scores)
        return sum(pairs) / len(pairs) > self._tau and member.scores[-1] > self._tau

    def _boundary(self, member: _Member) -> int:
        """How many members of the open group end before the boundary that member makes necessary."""
        last = len(self._open)
        if self._rule is not MergeRule.PAPER or member.scores[-1] < self._tau_out:
            return last
        # member resembles its neighbour too much for a boundary there: look back for the weakest place from which
        # everything up to member still forms one event.
        places = [p for p in range(1, last) if min(member.scores[p:]) >= self._tau]
        beside = {p: self._open[p].scores[-1] for p in places} | {last: member.scores[-1]}
        return min(beside, key=lambda place: (beside[place], -place))

    def _cut(self, place: int, member: _Member) -> list[tuple[Chunk, ...]]:
        """Finish the first `place` members; the rest and member stay open."""
        done, rest = self._open[:place], self._open[place:]
        self._open = [_Member(m.chunk, m.encoded, m.scores[place:]) for m in rest]
        self._open.append(_Member(member.chunk, member.encoded, member.scores[place:]))
        return [tuple(m.chunk for m in done)] if done else []


def _may_join(before: Chunk, after: Chunk) -> bool:
    """Adjacent in time, and both described or both missing for one reason."""
    return after.n == before.n + 1 and before.gap == after.gap
