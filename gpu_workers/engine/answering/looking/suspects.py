"""Action IN: an inspection of the answers in doubt, in place of the frame check.

Like the frame check, it runs after retrieval and may look only at the suspects' events and a margin.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import NodeRecord
from gpu_workers.engine.answering.looking.inspection import Inspection
from gpu_workers.engine.answering.looking.looks import neighbourhood, reach_of
from gpu_workers.engine.answering.looking.reflection import sufficient
from gpu_workers.engine.answering.looking.rounds import look_in_rounds
from gpu_workers.engine.answering.search.summary_answer import AnswerNode


def inspect(asked: Asked, calls: Calls, suspects: Sequence[AnswerNode]) -> tuple[list[AnswerNode], list[NodeRecord]]:
    """Return the inspection's node if its findings suffice, else none; and a record per round."""
    rounds = asked.settings.look.inspect_rounds
    nodes, records = look_in_rounds(asked, calls, _inspection(asked, suspects), rounds=rounds)
    return [node for node in nodes[-1:] if sufficient(node, asked.settings.look.inspect_gate)], records


def _inspection(asked: Asked, suspects: Sequence[AnswerNode]) -> Inspection:
    shown = [event.event_id for node in suspects for event in node.state.events]
    ranking = tuple(dict.fromkeys(e for e in shown if any(e in node.context.numbers for node in suspects)))
    loaded = asked.graph.load_events(ranking)
    events = tuple(loaded[event_id] for event_id in ranking if event_id in loaded)
    answers = dict.fromkeys(node.answer.text for node in suspects if node.answer and node.answer.sufficient)
    nearby = tuple(neighbourhood(asked.graph, events))
    return Inspection(suspects[0].state, ranking, events, reach_of(events), tuple(answers), nearby)
