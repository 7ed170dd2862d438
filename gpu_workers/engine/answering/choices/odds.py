"""How sure a reasoner is of yes: the odds of its first word."""

from __future__ import annotations

import math
from collections.abc import Mapping

ALTERNATIVES = 20
"""Number of likely first tokens that are requested; OpenAI's protocol returns no more."""

LEAST_MASS = 0.1
"""Minimum probability mass on yes and no. Below it the model answered something else, so its odds are meaningless."""


def log_odds(first: Mapping[str, float]) -> float | None:
    """Return the log-odds of yes against no from the log-probabilities of first tokens; None if neither is likely."""
    mass = {"yes": 1e-6, "no": 1e-6}
    for token, value in first.items():
        word = token.strip().lower()
        if word in mass:
            mass[word] += math.exp(value)
    return math.log(mass["yes"] / mass["no"]) if sum(mass.values()) >= LEAST_MASS else None
