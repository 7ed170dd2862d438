"""Route `time`: what happened in a stretch of time is answered from all that the stretch holds, in order of time.

A search would show the events nearest to "what happened", which are near to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls, count_prompt
from gpu_workers.engine.answering.context import LINE_TOKENS, EventContext, EventLabels, event_context
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.ending.final_answer import final_answer
from gpu_workers.engine.answering.ending.vote import vote
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.summary_answer import (
    answer_messages,
    answer_node,
    draw_from,
    node_record,
    state_record,
)
from gpu_workers.engine.ports import EventPlace
from gpu_workers.engine.retrieval.frames import all_places, evenly
from gpu_workers.engine.retrieval.fusion import RankedEvent

EVENT_TOKENS = 72
"""Tokens that each event of a long stretch gets at least: two sentences. Fewer events are shown if they do not fit."""

PATH = "T"
"""Path of the state that holds the events of the stretch."""


def answer_by_time(asked: Asked, calls: Calls) -> Answer | None:
    """Return the answer that the events of the named time give; None without a time, or if nothing happened in it.

    If the stretch holds more events than fit, they are taken evenly from all of it, each cut to its share.
    """
    time = asked.understood.time
    if time is None or not time.spans:
        return None
    with calls.timed("retrieval"):
        places = list(all_places(asked.graph))
    if not places:
        return None
    calls.on_progress("retrieval", 1, 1, f"{len(places)} events")
    chosen, context = events_of_stretch(asked, places)
    # In order of time, and none is nearer to the question than another.
    state = State(PATH, tuple(RankedEvent(event_id, 1.0) for event_id in chosen), top_similarity=1.0)
    root = state_record(calls, state)
    with calls.timed("search"):
        draw = draw_from(asked, calls, state, context)
        node = answer_node(asked, state, context, draw)
    if draw.halt:
        calls.halt(draw.halt)
    calls.on_progress("search", 1, 1, f"{len(chosen)} events")
    verdict, checks = vote(asked, calls, [node])
    return final_answer(
        asked,
        calls,
        nodes=[node],
        records=[root, node_record(node), *checks],
        verdict=verdict,
        top_similarity=state.top_similarity,
        single_sample=len(draw.parsed) == 1,
    )


def events_of_stretch(asked: Asked, places: Sequence[EventPlace]) -> tuple[list[UUID], EventContext]:
    """Return the events of these places that an answer reads, evenly from all of them, and their lines."""
    reasoner, settings = asked.models.reasoner, asked.settings.prompt
    frame = count_prompt(reasoner.count_tokens, answer_messages(asked, "", ()))
    room = max(1, min(settings.context_tokens, reasoner.context_tokens - frame - settings.answer_tokens))
    most = max(settings.least_events, 1, room // (EVENT_TOKENS + LINE_TOKENS))
    chosen = [places[index].event_id for index in evenly(len(places), most)]
    context = event_context(
        chosen,
        asked.graph.load_events(chosen),
        asked.graph.facts(chosen),
        count_tokens=reasoner.count_tokens,
        max_tokens=room,
        all_in_brief=True,
        least=settings.least_events,
        labels=EventLabels(videos=asked.video_numbers, clocks=asked.clocks, titles=asked.titles),
    )
    return chosen, context
