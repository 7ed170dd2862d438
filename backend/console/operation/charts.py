"""Data and options of unfold's charts (Chart.js), and the rows of its cohort table."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from backend.console.operation.anomalies import anomalies

COLOURS = ("#7c3aed", "#f59e0b", "#0d9488", "#db2777", "#2563eb", "#65a30d", "#b45309", "#475569")
MARK = "#dc2626"
MOST_MARKS = 12
"""Marks that are named below a chart, the latest of them."""
TEXT = "#767e8c"
"""Colour of labels, which is read on the light page and on the dark one."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line, or one layer of stacked bars. values: one per label, None where nothing was measured."""

    name: str
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Mark:
    """A time that stands out. link: the list of what it is made of, "" without one."""

    label: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """What unfold's chart component draws, and what people read who do not see it. data, options: JSON."""

    data: str
    options: str
    summary: str
    empty: bool
    marks: tuple[Mark, ...] = ()

    @property
    def latest_marks(self) -> tuple[Mark, ...]:
        return self.marks[-MOST_MARKS:]

    @property
    def earlier_marks(self) -> int:
        return len(self.marks) - len(self.latest_marks)


def lines(
    labels: Sequence[str],
    series: Sequence[Series],
    *,
    unit: str,
    watched: str = "",
    unfinished: bool = False,
    link: Callable[[int], str] | None = None,
    enough: Sequence[bool] = (),
    counts: bool = False,
) -> Chart:
    """Return a line chart. watched: the series whose anomalies are marked as red points.

    unfinished: whether the last time still runs, so that its value says nothing yet. link: returns the list behind the
    label at a position; marks alone have one, so it is not called for other positions. enough: whether a value rests on
    enough to stand out; every value does by default. counts: whether the watched values count what happens by itself.
    """
    marks: tuple[Mark, ...] = ()
    datasets = []
    for n, line in enumerate(series):
        drawn: dict[str, Any] = {
            "label": line.name,
            "data": list(line.values),
            "borderColor": COLOURS[n],
            "spanGaps": True,
        }
        if line.name == watched:
            standing_out = anomalies(line.values[:-1] if unfinished else line.values, counts=counts)
            standing_out = [at for at in standing_out if not enough or enough[at]]
            marks = tuple(Mark(labels[at], link(at) if link else "") for at in standing_out)
            drawn |= {
                "pointStyle": "circle",
                "pointRadius": [5 if at in standing_out else 0 for at in range(len(line.values))],
                "pointBackgroundColor": MARK,
            }
        # A line needs two values: one alone is drawn as a point.
        if sum(value is not None for value in line.values) == 1:
            drawn |= {"pointStyle": "circle", "pointRadius": 4, "pointBackgroundColor": COLOURS[n]}
        datasets.append(drawn)
    return _chart(labels, series, datasets, unit=unit, stacked=False, marks=marks)


def bars(labels: Sequence[str], series: Sequence[Series], *, unit: str) -> Chart:
    """Return a bar chart, with the series on top of each other."""
    datasets = [
        {"label": layer.name, "data": list(layer.values), "backgroundColor": COLOURS[n % len(COLOURS)]}
        for n, layer in enumerate(series)
    ]
    return _chart(labels, series, datasets, unit=unit, stacked=True)


def _chart(
    labels: Sequence[str],
    series: Sequence[Series],
    datasets: Sequence[dict[str, Any]],
    *,
    unit: str,
    stacked: bool,
    marks: tuple[Mark, ...] = (),
) -> Chart:
    coloured = {"color": TEXT}
    legend = {"display": True, "position": "bottom", "labels": {"boxWidth": 10, "boxHeight": 10, **coloured}}
    options = {
        "animation": False,
        "responsive": True,
        "maintainAspectRatio": False,
        "datasets": {"line": {"borderWidth": 2, "pointStyle": False}, "bar": {"maxBarThickness": 28}},
        "interaction": {"mode": "index", "intersect": False},
        "plugins": {"legend": legend},
        "scales": {
            "x": {
                "stacked": stacked,
                "grid": {"display": False},
                "ticks": {"maxRotation": 0, "autoSkipPadding": 12, **coloured},
            },
            "y": {
                "stacked": stacked,
                "beginAtZero": True,
                "title": {"display": True, "text": unit, **coloured},
                "ticks": coloured,
            },
        },
    }
    known = [value for line in series for value in line.values if value is not None]
    return Chart(
        data=json.dumps({"labels": list(labels), "datasets": list(datasets)}),
        options=json.dumps(options),
        summary=_summary(labels, series, unit),
        empty=not any(known),
        marks=marks,
    )


def _summary(labels: Sequence[str], series: Sequence[Series], unit: str) -> str:
    parts = []
    for line in series:
        known = [value for value in line.values if value is not None]
        if known:
            parts.append(f"{line.name}: {min(known):.4g} to {max(known):.4g} {unit}")
    span = f"{labels[0]} to {labels[-1]}" if labels else "no time"
    return f"{span}. {'; '.join(parts)}" if parts else f"{span}. Nothing was measured."


LEVELS = 5


def heat(value: float | None, highest: float) -> str:
    """Return the class of a cell's colour: c-heat-1 to c-heat-5, "" for a cell without a value."""
    if not value or not highest:
        return ""
    return f"c-heat-{min(LEVELS, 1 + int((LEVELS - 1) * value / highest + 0.5))}"
