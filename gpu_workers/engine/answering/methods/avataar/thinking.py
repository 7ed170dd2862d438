"""Thinking before retrieval: which functions to call, and what to search for (AVATAAR, section III-B2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_workers.engine.answering.agent.tools.contract import Tool, call_schema
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.calls import count_prompt
from gpu_workers.engine.answering.context import cut
from gpu_workers.engine.answering.wording import as_data, choice_lines, conversation, search_line
from gpu_workers.engine.models.roles import Message
from gpu_workers.engine.models.served.json_text import read_object
from gpu_workers.engine.models.served.structured import list_of, object_of, storable
from gpu_workers.engine.prompts import load

THINK_TOKENS = 500
QUESTION_CHARACTERS = 300
NAME_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Plan:
    """What a round does. question: as it is searched, "" for the customer's words. calls: functions with the arguments
    as they were written."""

    question: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    def same_as(self, other: Plan | None) -> bool:
        """Whether another plan would do the same."""
        return other is not None and (self.question.casefold(), self.calls) == (other.question.casefold(), other.calls)


def think(
    desk: Desk,
    known: Sequence[str],
    tools: Sequence[Tool],
    *,
    most: int,
    done: Sequence[str] = (),
    instruction: str = "",
) -> Plan | None:
    """Return the plan of a round, None if the reply cannot be read. Raises Halt, ModelError.

    known: G. most: maximum number of calls. done: what earlier rounds did, a line each. instruction: of the rethinking,
    "" in the first round.
    """
    question, videos = desk.asked.question, max(1, len(desk.videos))
    rules = load("think_rules", question.profile).substitute(functions=in_words(desk, tools), most=most)
    before = ""
    if instruction:
        before = load("think_again", question.profile).substitute(done="\n".join(done), instruction=instruction)
    fields = question_fields(desk) | {"before": before}
    schema = object_of(
        {
            "thought": {"type": "string"},
            "question": {"type": "string"},
            "functions": list_of({"anyOf": [call_schema(tool, videos=videos) for tool in tools]}, most),
        }
    )
    sample = desk.calls.ask(
        fitting(desk, rules, "think_view", fields, known, THINK_TOKENS),
        stage="think",
        meter=desk.meter,
        schema=schema,
        max_tokens=THINK_TOKENS,
        seed=desk.asked.seed_of(desk.path),
    )[0]
    return read_plan(sample.text, most=most)


def read_plan(text: str, *, most: int) -> Plan | None:
    """Return the plan in a reply, None if there is none. A call may stand under tool, name or function, its arguments
    next to the name or under arguments."""
    fields = read_object(text)
    if fields is None:
        return None
    question, listed = fields.get("question"), fields.get("functions")
    words = as_data(storable(question))[:QUESTION_CHARACTERS] if isinstance(question, str) else ""
    calls = [_call(item) for item in listed] if isinstance(listed, list) else []
    distinct: list[tuple[str, Mapping[str, Any]]] = []
    for call in calls:
        if call is not None and call not in distinct:
            distinct.append(call)
    return Plan(words, tuple(distinct[:most])) if words or distinct else None


def in_words(desk: Desk, tools: Sequence[Tool]) -> str:
    """Return a line per function: its name, its arguments, and what it is for."""
    videos = max(1, len(desk.videos))
    return "\n".join(
        f"- {tool.name}({', '.join(call_schema(tool, videos=videos)['required'][1:])}): {tool.description}"
        for tool in tools
    )


def question_fields(desk: Desk) -> dict[str, str]:
    """Return the fields that name the question in a prompt of this method."""
    question = desk.asked.question
    return {
        "question": question.question,
        "choices": choice_lines(question.choices),
        "language": search_line(desk.asked.question_language),
        "conversation": f"<text>\n{conversation(question.history)}\n</text>" if question.history else "",
    }


def fitting(
    desk: Desk, rules: str, prompt: str, fields: Mapping[str, str], known: Sequence[str], answer_tokens: int
) -> list[Message]:
    """Return the messages of a call, with as much of known as the window and the settings hold."""
    template, reasoner = load(prompt, desk.asked.question.profile), desk.asked.models.reasoner
    system = Message("system", (rules,))
    empty = [system, Message("user", (template.substitute(fields, known=""),))]
    room = reasoner.context_tokens - count_prompt(reasoner.count_tokens, empty) - answer_tokens
    room = max(1, min(room, desk.asked.settings.prompt.context_tokens))
    kept: list[str] = []
    for note in known:
        cost = reasoner.count_tokens(note) + 1
        if cost > room:
            kept.append(cut(note, reasoner.count_tokens, max(1, room)))
            break
        kept.append(note)
        room -= cost
    return [system, Message("user", (template.substitute(fields, known="\n".join(kept)),))]


def _call(item: Any) -> tuple[str, Mapping[str, Any]] | None:
    if isinstance(item, str):
        return item.strip()[:NAME_CHARACTERS], {}
    if not isinstance(item, Mapping):
        return None
    names = ("tool", "name", "function")
    name = next((item[key] for key in names if isinstance(item.get(key), str)), None)
    if name is None:
        return None
    nested = item.get("arguments")
    given = {key: value for key, value in item.items() if key not in (*names, "arguments")}
    return as_data(storable(name))[:NAME_CHARACTERS], {**given, **(nested if isinstance(nested, Mapping) else {})}
