"""How sure an answer may claim to be: one number between 0 and 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gpu_workers.engine.models.calibration import Calibration, Coefficients


@dataclass(frozen=True, slots=True)
class Signals:
    """What distinguishes right answers from wrong ones, each in 0..1.

    score: S of the answer, or its total with the events' support. margin: over the best other answer. similarity: of
    the strongest retrieval hit. support: the answer's share of the events' support (choices.support), None if the
    support was not computed.
    """

    score: float
    margin: float
    similarity: float
    support: float | None = None

    def named(self) -> dict[str, float]:
        values = {"score": self.score, "margin": self.margin, "similarity": self.similarity}
        return values if self.support is None else {**values, "support": self.support}


INITIAL = Coefficients(bias=-2.8, score=3.6, margin=1.4, similarity=1.2)
"""Coefficients by judgement, for answers without support: S 0.75 with margin 0.5 and similarity 0.5 gives 0.77, a lone
vote of four 0.13. They order answers and give no measured probability: nothing was measured with a large reasoner."""


def unconfirmed(gate: float, similarity: float) -> Signals:
    """Return the signals of an answer that a single sample gave. gate: S from which an answer is no longer in doubt.

    A lone sample agrees with itself, and no trace can agree with its own, so its S would be the trade-off of eq. 6,
    whatever it says. Nothing confirms it and nothing speaks against it: it stands at the gate, and half of what counts
    for it might have counted for another answer.
    """
    return Signals(gate, gate / 2, similarity)


def confidence(signals: Signals, calibration: Calibration) -> float:
    """Return the chance that the answer is right: measured if the answer has support, else by judgement."""
    support = calibration.support
    fit = INITIAL if signals.support is None or support is None else support.confidence.value
    weighted = fit.score * signals.score + fit.margin * signals.margin + fit.similarity * signals.similarity
    weighted += fit.support * (signals.support or 0.0)
    return 1.0 / (1.0 + math.exp(-(fit.bias + weighted)))
