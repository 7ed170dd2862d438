"""The outcome of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    """trouble: what is wrong after the run, a sentence each; empty for a run that passed. pool: of the workers that
    call models, "" for a run that broke off."""

    seed: int
    trouble: list[str]
    seconds: float
    pool: str = ""
