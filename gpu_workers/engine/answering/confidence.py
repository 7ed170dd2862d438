"""How sure an answer may claim to be: one number between 0 and 1."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Signals:
    """What tells right answers from wrong ones. score: S of the answer, or what it counts with the events' support;
    margin: over the best other answer; similarity: of the strongest retrieval hit; support: the answer's share of the
    events' support (choice_support), None where it was not looked at. Each in 0..1."""

    score: float
    margin: float
    similarity: float
    support: float | None = None

    def named(self) -> dict[str, float]:
        values = {"score": self.score, "margin": self.margin, "similarity": self.similarity}
        return values if self.support is None else {**values, "support": self.support}


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Of a logistic regression on the signals."""

    bias: float
    score: float
    margin: float
    similarity: float
    support: float = 0.0


INITIAL = Coefficients(bias=-2.8, score=3.6, margin=1.4, similarity=1.2)
"""By judgement: S 0.75 with margin 0.5 and similarity 0.5 gives 0.77, a lone vote of four 0.13. It orders answers and
is no measured probability: nothing with a large reasoner was measured yet."""

BY_SUPPORT = Coefficients(bias=-2.88, score=0.0, margin=0.0, similarity=0.0, support=5.70)
"""Where the support of choices counts (embedded profile): fitted by bench.evaluation.calibrate on EgoSchema's
development half. The small reasoner's votes tell nothing there that support does not (docs/evaluation.md)."""


def confidence(signals: Signals) -> float:
    """The chance that the answer is right: measured where there is support, else a judgement."""
    fit = INITIAL if signals.support is None else BY_SUPPORT
    weighted = fit.score * signals.score + fit.margin * signals.margin + fit.similarity * signals.similarity
    weighted += fit.support * (signals.support or 0.0)
    return 1.0 / (1.0 + math.exp(-(fit.bias + weighted)))
