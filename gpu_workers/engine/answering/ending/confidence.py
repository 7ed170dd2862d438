"""How sure an answer may claim to be: one number between 0 and 1, or none where nothing was measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from gpu_workers.engine.models.calibration import Calibration

Head = Literal["support", "votes", "sample"]
"""How an answer was drawn from what was shown: by the support of each choice, by votes or by a single sample."""

CONTRADICTED_MOST = 0.5
"""Maximum confidence of an answer with a statement that its evidence contradicts, whatever its votes say."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What distinguishes right answers from wrong ones, each in 0..1.

    score: S of the answer, or its total with the events' support. margin: over the best other answer. similarity: of
    the strongest retrieval hit. support: the answer's share of the events' support (choices.support), None if the
    support was not computed. supported, contradicted: shares of the answer's statements that the cited evidence
    supports and contradicts, before any revision; None if none was judged.
    """

    score: float
    margin: float
    similarity: float
    support: float | None = None
    supported: float | None = None
    contradicted: float | None = None

    def named(self) -> dict[str, float]:
        """Return the signals that were computed, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def unconfirmed(gate: float, similarity: float) -> Signals:
    """Return the signals of an answer that a single sample gave. gate: S from which an answer is no longer in doubt.

    A lone sample agrees with itself, and no trace can agree with its own, so its S would be the trade-off of eq. 6,
    whatever it says. Nothing confirms it and nothing speaks against it: it stands at the gate, and half of what counts
    for it might have counted for another answer.
    """
    return Signals(gate, gate / 2, similarity)


def confidence(signals: Signals, calibration: Calibration, head: Head | None = None) -> float | None:
    """Return the chance that the answer is right, as it was measured on answers of this head by these models.

    head: by default support if the signals have it, else votes. None if nothing was measured. An answer with a
    contradicted statement is never surer than CONTRADICTED_MOST.
    """
    fit = calibration.confidence_of(head or ("votes" if signals.support is None else "support"))
    if fit is None:
        return None
    values: Mapping[str, float] = signals.named()
    weighted = sum(weight * values.get(name, 0.0) for name, weight in fit.value.weights().items())
    sure = 1.0 / (1.0 + math.exp(-(fit.value.bias + weighted)))
    return min(sure, CONTRADICTED_MOST) if signals.contradicted else sure
