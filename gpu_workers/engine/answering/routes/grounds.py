"""What the items of an answer about the whole rest on: events of their parts, checked like any method's evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from uuid import UUID

from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.contract import CitationRecord, ClaimRecord
from gpu_workers.engine.answering.ending.claims import CheckedStatement, Evidence, Statement, cite
from gpu_workers.engine.answering.ending.evidence import Checks, find_evidence
from gpu_workers.engine.answering.ending.final_answer import without_contradictions
from gpu_workers.engine.answering.routes.items import Item
from gpu_workers.engine.answering.routes.parts import Part
from gpu_workers.engine.answering.routes.result import MOST_CLAIMS_CITED, middle_frames
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.sampling import Draw
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.languages.words import content_words
from gpu_workers.engine.ports import StoredEvent

MOST_LOOKED_AT = 768
"""Maximum number of events that are read to choose the evidence; each part has at least one of them."""

PATH = "W"
"""Path of the node that the evidence is cited from."""


@dataclass(frozen=True, slots=True)
class Checked:
    """An item and what its events say about it."""

    item: Item
    grounded: CheckedStatement

    @property
    def holds(self) -> bool:
        return self.grounded.status != "contradicted"


class Checking:
    """Checks items against the events of parts. Words, cosine and a model decide (ending.evidence); the reasoner is
    asked once to correct what the evidence contradicts."""

    def __init__(self, toolbox: Toolbox, parts: Sequence[Part]) -> None:
        self._toolbox = toolbox
        each = max(1, MOST_LOOKED_AT // max(1, len(parts)))
        self._wanted = {id(part): tuple(islice(part.events, each)) for part in parts}
        events = toolbox.load(event_id for ids in self._wanted.values() for event_id in ids)
        self._events = {event.id: event for event in events}
        self._words = {event.id: content_words(event.summary) for event in events}
        ordered = sorted(events, key=lambda event: (event.video_id, event.span, event.id))
        numbered = dict(enumerate(ordered, start=1))
        context = EventContext("", {event.id: number for number, event in numbered.items()}, numbered)
        self._node = AnswerNode(PATH, State(PATH, ()), context, Draw())

    @property
    def events(self) -> Sequence[StoredEvent]:
        """Return the events that stand for the parts, one for each."""
        return [self._events[ids[0]] for ids in self._wanted.values() if ids and ids[0] in self._events]

    def check(self, items: Sequence[Item]) -> list[Checked]:
        """Return the items with the events that are cited for them, at most MOST_CLAIMS_CITED: one for each item first.

        The title of a part is not contradicted by one of its events: another may be as the title says.
        """
        if not items:
            return []
        cited = self._cited(items)
        statements = [Statement(item.text, ids) for item, ids in zip(items, cited, strict=True)]
        grounds = self._ground(statements, reasoner=any(item.written for item in items))
        return [
            Checked(item, one if item.written else _of_title(one))
            for item, one in zip(items, grounds.statements, strict=True)
        ]

    def corrected(self, checked: Sequence[Checked]) -> tuple[list[Checked], list[str]]:
        """Return the items after one revision of those that their events contradict, and what was done. An item that
        is still contradicted keeps that status."""
        wrong = {index: one.grounded for index, one in enumerate(checked) if not one.holds}
        if not wrong or not self._toolbox.asked.settings.prompt.revise:
            return list(checked), []
        asked, calls = self._toolbox.asked, self._toolbox.calls
        first = Evidence(tuple(one.grounded for one in checked), {})
        grounds, notes = without_contradictions(asked, calls, self._node, first, wrong)
        return [
            Checked(replace(one.item, text=now.text), now) for one, now in zip(checked, grounds.statements, strict=True)
        ], notes

    def evidence(self, checked: Sequence[Checked]) -> tuple[tuple[CitationRecord, ...], tuple[ClaimRecord, ...]]:
        """Return the citations, strongest first, and a claim for each item."""
        cited = {event_id: self._events[event_id] for one in checked for event_id in one.grounded.statuses}
        grounds = Evidence(tuple(one.grounded for one in checked), middle_frames(self._toolbox, cited.values()))
        return cite(self._toolbox.asked, self._node, grounds)

    def _ground(self, statements: Sequence[Statement], *, reasoner: bool) -> Evidence:
        asked, calls = self._toolbox.asked, self._toolbox.calls
        cited = {event_id for statement in statements for event_id in statement.cited or ()}
        context = self._node.context
        # Only these are embedded.
        events = {number: event for number, event in context.events.items() if event.id in cited}
        node = replace(self._node, context=replace(context, events=events))
        with calls.timed("citations"):
            whole = " ".join(statement.text for statement in statements)
            checks = Checks(reasoner=reasoner, frames=False, best_frames=False)
            return find_evidence(asked, calls, node, statements, whole=whole, checks=checks)

    def _cited(self, items: Sequence[Item]) -> list[tuple[UUID, ...]]:
        """Return the events to cite for each item: of each of its parts the one that shares most words with it."""
        best = [[self._best(item, part) for part in item.parts] for item in items]
        longest = max(map(len, best))
        in_turn = ((turn, index) for turn in range(longest) for index, own in enumerate(best) if turn < len(own))
        links = dict.fromkeys((index, event_id) for turn, index in in_turn if (event_id := best[index][turn]))
        cited: list[list[UUID]] = [[] for _ in items]
        for index, event_id in islice(links, MOST_CLAIMS_CITED):
            cited[index].append(event_id)
        return [tuple(own) for own in cited]

    def _best(self, item: Item, part: Part) -> UUID | None:
        wanted = content_words(f"{item.text} {part.title} {part.text}")
        there = [event_id for event_id in self._wanted.get(id(part), ()) if event_id in self._events]
        return max(there, key=lambda event_id: len(wanted & self._words[event_id]), default=None)


def _of_title(grounded: CheckedStatement) -> CheckedStatement:
    statuses = {
        event_id: "unverified" if status == "contradicted" else status for event_id, status in grounded.statuses.items()
    }
    return replace(grounded, statuses=statuses)
