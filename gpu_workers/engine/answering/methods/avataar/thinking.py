"""Thinking before retrieval: which functions to call, and what to search for (AVATAAR, section III-B2); and rethinking:
whether an answer stands, and if not, what the next round should do (section III-B3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_workers.engine.answering.agent.tool import Tool, call_schema
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.calls import count_prompt
from gpu_workers.engine.answering.context import cut
from gpu_workers.engine.answering.contract import INSUFFICIENT
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.wording import as_data, choice_lines, search_line
from gpu_workers.engine.models.roles import Message
from gpu_workers.engine.models.served.structured import list_of, object_of, read_object, storable
from gpu_workers.engine.prompts import load

THINK_TOKENS = 500
QUESTION_CHARACTERS = 300
NAME_CHARACTERS = 40
RETHINK_TOKENS = 300
INSTRUCTION_CHARACTERS = 300
REASONING_CHARACTERS = 600
FOUND_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class RoundPlan:
    """What a round does. question: as it is searched, "" for the customer's words. calls: functions with the arguments
    as they were written."""

    question: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    def same_as(self, other: RoundPlan | None) -> bool:
        """Whether another plan would do the same."""
        return other is not None and (self.question.casefold(), self.calls) == (other.question.casefold(), other.calls)


def think(
    toolbox: Toolbox,
    known: Sequence[str],
    tools: Sequence[Tool],
    *,
    most: int,
    done: Sequence[str] = (),
    instruction: str = "",
) -> RoundPlan | None:
    """Return the plan of a round, None if the reply cannot be read. Raises Halt, ModelError.

    known: G. most: maximum number of calls. done: what earlier rounds did, a line each. instruction: of the rethinking,
    "" in the first round.
    """
    profile, videos = toolbox.asked.question.profile, max(1, len(toolbox.videos))
    rules = load("think_rules", profile).substitute(functions=_function_lines(toolbox, tools), most=most)
    before = ""
    if instruction:
        before = load("think_again", profile).substitute(done="\n".join(done), instruction=instruction)
    schema = object_of(
        {
            "thought": {"type": "string"},
            "question": {"type": "string"},
            "functions": list_of({"anyOf": [call_schema(tool, videos=videos) for tool in tools]}, most),
        }
    )
    view = _View("think_view", {"before": before}, known, THINK_TOKENS)
    return read_plan(_asked(toolbox, "think", rules, view, schema), most=most)


def read_plan(text: str, *, most: int) -> RoundPlan | None:
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
    return RoundPlan(words, tuple(distinct[:most])) if words or distinct else None


def _function_lines(toolbox: Toolbox, tools: Sequence[Tool]) -> str:
    """Return a line per function: its name, its arguments, and what it is for."""
    videos = max(1, len(toolbox.videos))
    return "\n".join(
        f"- {tool.name}({', '.join(call_schema(tool, videos=videos)['required'][1:])}): {tool.description}"
        for tool in tools
    )


@dataclass(frozen=True, slots=True)
class _View:
    """What a call reads after its rules: a prompt, its fields beyond the question's, G, and tokens for the reply."""

    prompt: str
    fields: Mapping[str, str]
    known: Sequence[str]
    reply_tokens: int


def _asked(toolbox: Toolbox, stage: str, rules: str, view: _View, schema: Mapping[str, Any]) -> str:
    """Return the reasoner's reply; as much of view.known is sent as the window and the settings hold."""
    question, reasoner = toolbox.asked.question, toolbox.asked.models.reasoner
    template, system = load(view.prompt, question.profile), Message("system", (rules,))
    fields = {
        "question": question.question,
        "choices": choice_lines(question.choices),
        "language": search_line(toolbox.asked.question_language),
        "conversation": toolbox.history,
        **view.fields,
    }
    empty = [system, Message("user", (template.substitute(fields, known=""),))]
    room = reasoner.context_tokens - count_prompt(reasoner.count_tokens, empty) - view.reply_tokens
    room = max(1, min(room, toolbox.asked.settings.prompt.context_tokens))
    kept: list[str] = []
    for note in view.known:
        cost = reasoner.count_tokens(note) + 1
        if cost > room:
            kept.append(cut(note, reasoner.count_tokens, max(1, room)))
            break
        kept.append(note)
        room -= cost
    return toolbox.calls.ask(
        [system, Message("user", (template.substitute(fields, known="\n".join(kept)),))],
        stage=stage,
        meter=toolbox.meter,
        schema=schema,
        max_tokens=view.reply_tokens,
        seed=toolbox.asked.seed_of(toolbox.path),
    )[0].text


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


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judgement. instruction: for the next round, "" if there is nothing to do."""

    sufficient: bool
    diagnosis: str
    instruction: str


def rethink(
    toolbox: Toolbox,
    known: Sequence[str],
    found: Sequence[str],
    tools: Sequence[Tool],
    answer: ParsedAnswer | None,
    doubt: str,
) -> Judgement | None:
    """Return the judgement of an answer, None if the reply cannot be read. Raises Halt, ModelError.

    known: G. found: what was done and found, a line each. doubt: why the answer is judged at all.
    """
    rules = load("rethink_rules", toolbox.asked.question.profile)
    fields = {
        "found": "\n".join(found)[:FOUND_CHARACTERS] or "nothing",
        "answer": as_data(answer.text) if answer is not None and answer.sufficient else INSUFFICIENT,
        "reasoning": as_data(answer.reasoning)[:REASONING_CHARACTERS] if answer is not None else "none",
        "doubt": doubt,
    }
    schema = object_of(
        {"sufficient": {"type": "boolean"}, "diagnosis": {"type": "string"}, "instruction": {"type": "string"}}
    )
    view = _View("rethink_view", fields, known, RETHINK_TOKENS)
    rules_text = rules.substitute(functions=_function_lines(toolbox, tools))
    return read_judgement(_asked(toolbox, "rethink", rules_text, view, schema))


def read_judgement(text: str) -> Judgement | None:
    """Return the judgement in a reply; None without one."""
    fields = read_object(text)
    if fields is None or not {"sufficient", "instruction"} & set(fields):
        return None
    said = fields.get("sufficient")
    sufficient = said if isinstance(said, bool) else str(said).strip().lower() in ("true", "yes")
    return Judgement(sufficient, _words(fields.get("diagnosis")), _words(fields.get("instruction")))


def _words(value: object) -> str:
    return as_data(storable(value))[:INSTRUCTION_CHARACTERS] if isinstance(value, str) else ""
