"""The picture of accuracy over cost: positions of arms, intervals, axes and the frontier, for an inline SVG."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from backend.questions.figures.report import Report

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 48, 20, 16, 40
TICKS = 4
"""Number of steps of an axis."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A labeled position on an axis, in pixels."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Point:
    """An arm in the picture. number: from 1, as in the table. low, high: ends of the accuracy's interval in pixels."""

    number: int
    label: str
    x: float
    y: float
    low: float
    high: float
    on_frontier: bool
    words: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that the SVG draws.

    line: the frontier's points as an SVG polyline reads them. description: the picture in words.
    """

    points: tuple[Point, ...]
    line: str
    costs: tuple[Tick, ...]
    accuracies: tuple[Tick, ...]
    description: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def picture_of(report: Report) -> Picture | None:
    """Return the picture of a report's arms; None if no arm has an accuracy."""
    arms = [(n, arm) for n, arm in enumerate(report.arms) if arm.accuracy.value is not None]
    if not arms:
        return None
    dearest = max(arm.amounts.mean or Decimal(0) for _, arm in arms)
    widest = _rounded_up(dearest)
    points = []
    for n, arm in arms:
        accuracy, cost = arm.accuracy.value or 0.0, arm.amounts.mean or Decimal(0)
        words = (
            f"{arm.label}: {_percent(accuracy)} ({_percent(arm.accuracy.low)} to {_percent(arm.accuracy.high)}) "
            f"at {_dollars(cost)} a question"
        )
        points.append(
            Point(
                number=n + 1,
                label=arm.label,
                x=_x(cost, widest),
                y=_y(accuracy),
                low=_y(arm.accuracy.low),
                high=_y(arm.accuracy.high),
                on_frontier=n in report.frontier,
                words=words,
            )
        )
    best = sorted((point for point in points if point.on_frontier), key=lambda point: (point.x, -point.y))
    names = ", ".join(point.label for point in best)
    return Picture(
        points=tuple(points),
        line=" ".join(f"{point.x:.1f},{point.y:.1f}" for point in best),
        costs=tuple(
            Tick(_x(widest * step / TICKS, widest), _dollars(widest * step / TICKS)) for step in range(TICKS + 1)
        ),
        accuracies=tuple(Tick(_y(step / TICKS), f"{100 * step // TICKS} %") for step in range(TICKS + 1)),
        description=f"{'; '.join(point.words for point in points)}. No arm is both cheaper and better than: {names}.",
    )


def _rounded_up(cost: Decimal) -> Decimal:
    """Return the end of the cost axis: the next of 1, 2, 5 or 10 in the cost's power of ten; 1 if nothing costs."""
    if not cost:
        return Decimal(1)
    power = Decimal(1).scaleb(cost.adjusted())
    return next(step * power for step in (1, 2, 5, 10) if cost <= step * power)


def _x(cost: Decimal, widest: Decimal) -> float:
    return LEFT + (WIDTH - RIGHT - LEFT) * float(cost / widest)


def _y(accuracy: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * accuracy


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _dollars(cost: Decimal) -> str:
    """Return dollars with at most six digits behind the point, and none that say nothing."""
    return f"${cost.quantize(Decimal('0.000001')).normalize():f}"
