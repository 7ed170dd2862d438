"""How often something is so, and when: the answer of a scan, over events or over what is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.contract import Answer, AnswerPart, NodeRecord
from gpu_workers.engine.answering.ending.compose import table_lines
from gpu_workers.engine.answering.routes.phrases import Phrases, Sureness, opening, phrases_of
from gpu_workers.engine.answering.routes.result import (
    Claim,
    Group,
    RouteResult,
    chosen_by_number,
    group_notes,
    groups_of,
    moment_in_words,
    route_answer,
)
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.retrieval.object_names import named_things


@dataclass(frozen=True, slots=True)
class Times:
    """When something is so: the video and the span of each time, in order; and how sure their number is."""

    places: Sequence[tuple[UUID, Span]]
    sure: Sureness


@dataclass(frozen=True, slots=True)
class Occurrences:
    """What a scan found. in_group: the times of a part of the scope. rows: when and what, of the first times. absent:
    the answer if there is no time. events: to cite, best first. read: share of the scope that was read, 0 to 1."""

    statement: str
    times: Times
    in_group: Callable[[Group], Times]
    rows: Sequence[tuple[str, str]]
    absent: str
    events: Sequence[UUID]
    notes: Sequence[str]
    read: float


def answer_by_occurrences(toolbox: Toolbox, found: Occurrences, records: Sequence[NodeRecord]) -> Answer | None:
    """Return how often and when something is so, in the shape that was asked for. None if the question has choices and
    none of them is certain to be the number."""
    asked, phrases, number = toolbox.asked, phrases_of(toolbox.asked), len(found.times.places)
    choice, table = None, asked.understood.shape == "table"
    notes, rows = list(found.notes), found.rows if asked.understood.shape in ("list", "steps", "table") else ()
    groups = groups_of(toolbox) if asked.understood.shape == "count" else ()
    if asked.question.choices:
        choice = chosen_by_number(asked, number) if found.times.sure == "exactly" else None
        if choice is None:
            return None
        text, rows = asked.question.choices[choice], ()
    elif groups:
        notes += group_notes(toolbox, len(groups))
        text = f"{_in_groups(toolbox, phrases, found, groups)}.{_not_things(toolbox, phrases)}"
    elif not number:
        text = found.absent
    else:
        text = _text(toolbox, phrases, found)
    columns = (phrases("when"), phrases("what")) if table and rows else ()
    parts = [AnswerPart(what, 0, (when, what)) if table else AnswerPart(f"{when}: {what}", 0) for when, what in rows]
    claim = f"{opening(phrases.times(found.times.sure, number))}: {found.statement}"
    shares = {"read": round(found.read, 4)}
    result = RouteResult(text, "scan", records, choice=choice, notes=notes, shares=shares, parts=parts, columns=columns)
    return route_answer(toolbox, result, [Claim(claim, found.events)])


def _text(toolbox: Toolbox, phrases: Phrases, found: Occurrences) -> str:
    understood, times = toolbox.asked.understood, found.times
    if understood.shape in ("list", "steps", "table"):
        left = len(times.places) - len(found.rows)
        more = [phrases("more", n=left)] if left > 0 else []
        head = f"{opening(phrases.times(times.sure, len(times.places)))}:"
        if understood.shape == "table":
            return "\n".join([head, "", *table_lines((phrases("when"), phrases("what")), found.rows), *more])
        return "\n".join([head, *(f"- {when}: {what}" for when, what in found.rows), *more])
    moments = [moment_in_words(toolbox, video_id, span.start_ms) for video_id, span in times.places]
    counted = phrases.times(times.sure, len(times.places), moments)
    if understood.shape == "count":
        return f"{opening(counted)}.{_not_things(toolbox, phrases)}"
    return phrases("happens" if understood.polarity == "never" else "yes", times=counted)


def _in_groups(toolbox: Toolbox, phrases: Phrases, found: Occurrences, groups: Sequence[Group]) -> str:
    """Return how often something is so in each part of the scope, as "Yard: about 2 times: 0:01:05, 0:02:00; …"."""
    tallies: list[tuple[int, str]] = []
    for group in groups:
        times = found.in_group(group)
        # The label names the only video of a group.
        moments = [
            moment_in_words(toolbox, video_id, span.start_ms)
            if len(group.spans) > 1
            else clock(span.start_ms, hours=True)
            for video_id, span in times.places
        ]
        counted = phrases.times(times.sure, len(moments), moments) if group.spans else phrases("outside")
        tallies.append((len(moments), f"{group.label}: {counted}"))
    comparison = toolbox.asked.understood.comparison
    if comparison in ("most", "fewest"):
        tallies.sort(key=lambda tally: tally[0], reverse=comparison == "most")
    return "; ".join(text for _, text in tallies)


def _not_things(toolbox: Toolbox, phrases: Phrases) -> str:
    """Return that a number of times is no number of people or things, if the question may have meant these."""
    return f" {phrases('not_things')}" if named_things(toolbox.asked.understood.counted)[0] else ""
