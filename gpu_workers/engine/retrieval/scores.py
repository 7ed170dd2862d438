"""How well an event fits a query: a measured chance, which means the same in every search of an installation.

A ranking compares the events of one search. Its scores say nothing about whether the best event fits at all. So each
event that was found is compared with the query by itself. A logistic curve turns each similarity into log-odds that the
event fits. Measurements and pictures are judged together: their log-odds are averaged. Descriptions, speech, words and
names each speak for themselves. The highest of these chances is the score. score_curves.json holds the curves by the
name of the embedder, with the data that they were fitted to; docs/lab/retrieval.md shows how well they hold.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from gpu_workers.engine.languages.detection import is_in_another
from gpu_workers.engine.ports import EventSimilarity, Hit, NearPart

Kind = Literal["description", "measurement", "speech", "frame", "words", "name"]
"""What is compared with the query: an event's text as a model wrote it, or as it was measured (Chunk.facts); a spoken
line; a picture; the words of all texts; the names of entities, topics and objects."""

KINDS: tuple[Kind, ...] = get_args(Kind)

DEFAULT_MIN_SCORE = 0.6
"""Minimum score of a result, where the request has none: more likely right than wrong. docs/lab/retrieval.md shows what
other values find and leave out."""

DIGITS = 2
"""Decimal digits of a score. Events of equal score keep the order of the ranking."""

CURVES = Path(__file__).with_name("score_curves.json")


MEASURED: frozenset[Kind] = frozenset({"measurement", "frame"})
"""Kinds that are judged together: a picture that resembles the query, next to a measurement that does not, is an error
of one of the two. A description that a model wrote decides without the pictures: the model looked at them."""


USUAL_MINUTES = 2.0
"""Length of the scopes that the curves were fitted on."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The log-odds of a similarity: offset + slope * similarity, less growth for each e-fold of the scope's length.

    The more a search compares, the more resembles the query by accident. languages: of queries that the embedder
    understands (ISO 639-1); empty for all.
    """

    slope: float
    offset: float
    growth: float = 0.0
    languages: tuple[str, ...] = ()

    def log_odds(self, similarity: float, minutes: float) -> float:
        """Return the log-odds. minutes: length of what the scope lets a search read."""
        return self.offset + self.slope * similarity - self.growth * math.log(max(1.0, minutes / USUAL_MINUTES))


@cache
def curves() -> Mapping[tuple[str, str], Curve]:
    """Return the measured curves by kind and name of the embedder; words and names have none ("")."""
    table = json.loads(CURVES.read_text(encoding="utf-8"))["curves"]
    return {
        (kind, embedder): Curve(row["slope"], row["offset"], row["growth"], tuple(row["languages"]))
        for kind, rows in table.items()
        for embedder, row in rows.items()
    }


@dataclass(frozen=True, slots=True)
class Scoring:
    """The curves of one search. kinds: the kinds that it compares, with their curves; None for a kind that nobody
    measured for this embedder. minutes: length of the scope.

    If one kind has no curve, no curve is used: a similarity itself, cut to 0 to 1, is the score of each kind. Chances
    and cosines of one search would not compare.
    """

    kinds: Mapping[Kind, Curve | None]
    minutes: float = USUAL_MINUTES

    @classmethod
    def of(
        cls, kinds: Sequence[Kind], *, text_embedder: str, frame_embedder: str, minutes: float, text: str = ""
    ) -> Scoring:
        """Return the curves of these kinds for embedders of these names. minutes: length of the scope.

        text: the query. If some of the kinds understand its language, the others are not compared: a picture that is
        compared with words of another language resembles nothing.
        """
        names = {"frame": frame_embedder, "words": "", "name": ""}
        found = {kind: curves().get((kind, names.get(kind, text_embedder))) for kind in kinds}
        knowing = {
            kind: curve
            for kind, curve in found.items()
            if curve is None or not curve.languages or not is_in_another(curve.languages, text)
        }
        return cls(knowing if any(knowing.values()) else found, minutes)

    @property
    def calibrated(self) -> bool:
        """Whether a score is a measured chance."""
        return all(self.kinds.values())

    @property
    def min_score(self) -> float:
        """Return the minimum score of a search that names none: 0 where nobody measured what a score means."""
        return DEFAULT_MIN_SCORE if self.calibrated else 0.0

    def score(self, found: Iterable[tuple[Kind, float]]) -> float:
        """Return the score of evidence: kinds with their similarities. The strongest of each kind counts."""
        best: dict[Kind, float] = {}
        for kind, similarity in found:
            if kind in self.kinds:
                best[kind] = max(similarity, best.get(kind, similarity))
        if not self.calibrated:
            return round(max(0.0, min(1.0, max(best.values(), default=0.0))), DIGITS)
        odds = {
            kind: curve.log_odds(best[kind], self.minutes)
            for kind, curve in self.kinds.items()
            if curve and kind in best
        }
        seen: list[Kind] = ["description"] if "description" in odds else sorted(MEASURED & odds.keys())
        levels = [value for kind, value in odds.items() if kind not in {*MEASURED, "description"}]
        if seen:
            levels.append(sum(odds[kind] for kind in seen) / len(seen))
        return round(max((1.0 / (1.0 + math.exp(-level)) for level in levels), default=0.0), DIGITS)

    def of_part(self, part: NearPart) -> float:
        """Return the score of a frame or a line by itself."""
        return self.score([("frame" if part.view == "frame" else "speech", part.similarity)])


def evidence(near: EventSimilarity | None, hits: Sequence[Hit], *, measured: bool) -> Iterator[tuple[Kind, float]]:
    """Yield what speaks for an event: each kind with a similarity. hits: those that found it.

    measured: whether the event's text was measured. Similarities of hits by meaning are left out: they depend on what
    else is in the scope (ViewQuery.context and crowding), those of near do not.
    """
    if near is not None:
        if near.own is not None:
            yield "measurement" if measured else "description", near.own
        for part in near.parts:
            yield "frame" if part.view == "frame" else "speech", part.similarity
    for hit in hits:
        if hit.view == "words":
            yield "words", hit.similarity
        elif hit.view in ("name", "title", "object"):
            yield "name", hit.similarity
