"""How sure an answer may claim to be: one number between 0 and 1."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Logistic regression on S of the answer, its margin over the best other answer, and the strongest retrieval hit.

    Initial values by judgement: S 0.75 with margin 0.5 and similarity 0.5 gives 0.77, a lone vote of four 0.13. Replace
    them by a fit on the evaluation set (bench); until then the number orders answers, it is no measured probability.
    """

    bias: float = -2.8
    score: float = 3.6
    margin: float = 1.4
    similarity: float = 1.2


INITIAL = Coefficients()


def confidence(*, score: float, margin: float, top_similarity: float, coefficients: Coefficients = INITIAL) -> float:
    """score, margin, top_similarity: each in 0..1. Returns the calibrated confidence."""
    weighted = coefficients.score * score + coefficients.margin * margin + coefficients.similarity * top_similarity
    return 1.0 / (1.0 + math.exp(-(coefficients.bias + weighted)))
