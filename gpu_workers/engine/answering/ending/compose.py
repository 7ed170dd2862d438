"""Composing the text of an answer, after the vote: one call writes its parts from what the winning node was shown."""

from __future__ import annotations

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import Calls, count_prompt
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.ending.composed import Composed
from gpu_workers.engine.answering.ending.writing import composing_messages, composing_schema, read_parts
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.models.roles import ModelError

COMPOSE = "compose"
"""Stage of the call in the ledger, and of its time."""

LEAST_TOKENS = 160
"""Minimum room for the parts. With less, the answer stays a sentence."""


def compose(
    asked: Asked, calls: Calls, *, context: EventContext, answer: ParsedAnswer, findings: str = ""
) -> Composed | None:
    """Return the answer's text in the form that asked.understood.shape names, in one call of the reasoner.

    context: the events that the answer was drawn from, with their numbers. findings: lines that were shown with them,
    as data already. answer: the answer that the vote decided on; the text elaborates it.

    Only events of context can be cited. Returns None, so that the answer's own sentence stands: for a sentence or a
    choice, in an effort that composes nothing (settings.prompt.compose_tokens 0), without events, where the reasoner's
    window has no room, and where the call fails or writes no part that cites an event. Raises neither Halt nor
    ModelError.
    """
    shape, reasoner = asked.understood.shape, asked.models.reasoner
    most = asked.settings.prompt.compose_tokens
    if shape == "sentence" or asked.question.choices or not most or not context.events or calls.halted:
        return None
    messages = composing_messages(asked, context.text, findings, answer)
    room = min(most, reasoner.context_tokens - count_prompt(reasoner.count_tokens, messages))
    if room < LEAST_TOKENS:
        return None
    try:
        with calls.timed(COMPOSE):
            sample = calls.ask(
                messages,
                stage=COMPOSE,
                meter=calls.meter,
                schema=composing_schema(shape),
                max_tokens=room,
                seed=asked.seed_of(COMPOSE),
            )[0]
    except Halt as halt:
        calls.halt(halt)
        return None
    except ModelError:
        return None
    composed = None if sample.refused else read_parts(sample.text, shape, context.events, opening=answer.text)
    calls.on_progress(COMPOSE, 1, 1, f"{len(composed.parts) if composed else 0} parts")
    return composed
