"""The outcome of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    """trouble: what is wrong after the run, a sentence each; empty for a run that passed."""

    seed: int
    trouble: list[str]
    seconds: float
