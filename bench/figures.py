"""A figure: the measured ratio, its reference, and whether it holds. docs/lab/benchmarks.md explains each figure."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Literal

Figures = Iterator["Figure"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured ratio. value: the ratio. target: the required range, such as ">= 0.9". reference: in words."""

    name: str
    value: float
    target: str
    holds: bool
    reference: str

    def line(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


def at_least(name: str, value: float, bound: float, reference: str) -> Figure:
    return _bounded(name, value, ">=", bound, reference)


def at_most(name: str, value: float, bound: float, reference: str) -> Figure:
    return _bounded(name, value, "<=", bound, reference)


def _bounded(name: str, value: float, sign: Literal[">=", "<="], bound: float, reference: str) -> Figure:
    holds = value >= bound if sign == ">=" else value <= bound
    # Rounded only after the comparison, with enough digits to distinguish a small number from 0.
    return Figure(name, float(f"{value:.4g}"), f"{sign} {bound:g}", bool(holds), reference)


def print_lines(figures: Iterable[Figure]) -> bool:
    """Print each figure as soon as it is measured. Return whether all of them hold."""
    held = True
    for figure in figures:
        print(figure.line(), flush=True)
        held &= figure.holds
    return held


def show_progress(text: str) -> None:
    """Print progress to stderr, because stdout is for figures alone."""
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class Timing:
    """Wall seconds of one side of a comparison, one value per repeat."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def side_by_side(repeats: int, *sides: Callable[[], object]) -> tuple[Timing, ...]:
    """Run all sides in turn, repeats times, every other time in reverse, so that a change in the machine's load affects
    all sides."""
    taken: list[list[float]] = [[] for _ in sides]
    for repeat in range(repeats):
        order = range(len(sides)) if repeat % 2 == 0 else range(len(sides) - 1, -1, -1)
        for k in order:
            began = time.perf_counter()
            sides[k]()
            taken[k].append(time.perf_counter() - began)
    return tuple(Timing(tuple(seconds)) for seconds in taken)


def ratio(over: Timing, under: Timing) -> float:
    """Return the median over the repeats of over / under, each taken from the same turn."""
    return statistics.median(a / b for a, b in zip(over.seconds, under.seconds, strict=True))
