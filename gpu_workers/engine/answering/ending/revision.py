"""One revision of the statements that the evidence contradicts: each is corrected, or it is removed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import Calls, count_prompt
from gpu_workers.engine.answering.context import event_context
from gpu_workers.engine.answering.ending.grounding import Grounded, Statement
from gpu_workers.engine.answering.ending.writing import MOST_CITED, MOST_PARTS, PART_CHARACTERS
from gpu_workers.engine.answering.parsing import event_numbers
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.answering.words import plain
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.models.served.json_text import rows_of
from gpu_workers.engine.models.served.structured import clean, list_of, object_of, text_of
from gpu_workers.engine.prompts import load

REVISE = "revise"
"""Stage of the call in the ledger, and of its time."""

REVISED_TOKENS = 120
"""Maximum tokens of one corrected statement with its numbers."""


def revised(asked: Asked, calls: Calls, node: AnswerNode, wrong: Mapping[int, Grounded]) -> dict[int, Statement]:
    """Return corrected statements by their index, in one call of the reasoner.

    wrong: contradicted statements by index, with the events that are cited for them; only these events are shown, and
    only they can be cited. A statement is missing if the model leaves it out, repeats it or cites no shown event for
    it, and all are missing if the call fails or may not be made. Raises neither Halt nor ModelError.
    """
    if calls.halted or not wrong:
        return {}
    reasoner, numbers = asked.models.reasoner, node.context.numbers
    shown = {event.id: event for event in node.context.events.values()}
    ids = list(dict.fromkeys(event_id for statement in wrong.values() for event_id in statement.statuses))
    most = REVISED_TOKENS * min(MOST_PARTS, len(wrong))
    empty = _messages(asked, "", wrong)
    room = reasoner.context_tokens - most - count_prompt(reasoner.count_tokens, empty)
    context = event_context(
        ids,
        shown,
        (),
        count_tokens=reasoner.count_tokens,
        max_tokens=max(1, min(room, asked.settings.prompt.context_tokens)),
        least=len(ids),
        numbers=numbers,
    )
    try:
        with calls.timed(REVISE):
            sample = calls.ask(
                _messages(asked, context.text, wrong),
                stage=REVISE,
                meter=calls.meter,
                schema=_schema(),
                max_tokens=most,
                seed=asked.seed_of(REVISE),
            )[0]
    except Halt as halt:
        calls.halt(halt)
        return {}
    except ModelError:
        return {}
    calls.on_progress(REVISE, 1, 1, f"{len(wrong)} statements")
    if sample.refused:
        return {}
    read = [_read(row, wrong, node) for row in rows_of(sample.text, "statements")]
    return dict(pair for pair in read if pair)


def _messages(asked: Asked, events: str, wrong: Mapping[int, Grounded]) -> list[Message]:
    lines = [f"{index + 1}. {as_data(statement.text)}" for index, statement in wrong.items()]
    prompt = load("compose_revise", asked.question.profile).substitute(
        question=asked.question.question, statements="\n".join(lines), events=events
    )
    return [Message("user", (prompt,))]


def _schema() -> dict[str, Any]:
    statement = object_of(
        {
            "number": {"type": "integer"},
            "text": text_of(PART_CHARACTERS),
            "evidence": list_of({"type": "integer"}, MOST_CITED),
        }
    )
    return object_of({"statements": list_of(statement, MOST_PARTS)}, title="revised")


def _read(row: object, wrong: Mapping[int, Grounded], node: AnswerNode) -> tuple[int, Statement] | None:
    if not isinstance(row, dict) or not isinstance(row.get("number"), int):
        return None
    index, text = row["number"] - 1, clean(row.get("text"), limit=PART_CHARACTERS)
    if index not in wrong or not plain(text) or plain(text) == plain(wrong[index].text):
        return None
    named = [node.context.events[n].id for n in event_numbers(row.get("evidence")) if n in node.context.events]
    cited = tuple(event_id for event_id in dict.fromkeys(named) if event_id in wrong[index].statuses)
    return (index, Statement(text, cited)) if cited else None
