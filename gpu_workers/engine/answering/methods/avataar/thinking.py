"""Thinking before retrieval: which functions to call, and what to search for (AVATAAR, section III-B2 and table I); and
rethinking: whether an answer stands, and if not, what the next round should do (section III-B3).

Web search is not built: its query would carry words of the video to a stranger, and its result a stranger's words in.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_workers.engine.answering.agent.caption_tools import TERM_FREQUENCY
from gpu_workers.engine.answering.agent.conversation import ToolCall, read_step
from gpu_workers.engine.answering.agent.frame_tools import ACTION_AFTER, ACTION_BEFORE
from gpu_workers.engine.answering.agent.tool import (
    BAD_ARGUMENTS,
    NOT_AVAILABLE,
    NOTHING_FOUND,
    TOO_MANY,
    BadArguments,
    Kind,
    Observation,
    Text,
    Tool,
    call_schema,
    failed,
    read_arguments,
)
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.calls import count_prompt
from gpu_workers.engine.answering.context import cut_lines
from gpu_workers.engine.answering.contract import INSUFFICIENT
from gpu_workers.engine.answering.methods.avataar.contexts import Anchor, GlobalContext, described
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.wording import as_data, choice_lines, search_line
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.models.served.structured import list_of, object_of, read_object, storable
from gpu_workers.engine.prompts import load

SUB_QUESTIONS = 3
ANCHORS = 3
"""Maximum number of events that one description is anchored to."""

ENTITIES = 8
"""Entities nearest to a question among which its names are sought."""

MOST_DESCRIBED = 3
"""Maximum number of names of a question that are described."""

PHRASE_CHARACTERS = 200
THINK_TOKENS, RETHINK_TOKENS = 500, 300
TEXT_CHARACTERS = 300
"""Maximum length of a question, a diagnosis or an instruction that the reasoner writes."""

REASONING_CHARACTERS = 600
FOUND_CHARACTERS = 4_000


# --- functions -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShortTexts(Kind):
    """One to `most` texts, the longer ones cut."""

    most: int

    def schema(self, *, videos: int = 1) -> dict[str, Any]:
        return list_of({"type": "string"}, self.most)

    def read(self, value: Any, *, videos: int = 1) -> tuple[str, ...]:
        items = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        texts = [as_data(storable(item))[:PHRASE_CHARACTERS] for item in items if isinstance(item, str)]
        phrases = tuple(dict.fromkeys(text for text in texts if text))[: self.most]
        if not phrases:
            raise BadArguments(self.wording())
        return phrases

    def wording(self, *, videos: int = 1) -> str:
        return f"a list of 1 to {self.most} short texts"


class Functions:
    """The functions of one question, and what those of the current round have brought.

    descriptions: of people and things, with which the question is searched; empty unless they were asked for. anchors:
    where what was named happens. sub_questions: to be retrieved for as well.
    """

    def __init__(self, toolbox: Toolbox, people: Mapping[str, str]) -> None:
        self._toolbox, self._people = toolbox, people
        self._uses: Counter[str] = Counter()
        self.begin_round()
        tools = (
            Tool(
                "expand_query",
                "Adds to the question what is known of the people and things that it names.",
                {}, frozenset({"events"}), 4, self._expand,
            ),
            Tool(
                "extract_temporal_anchors",
                "Says when something happens.",
                {"event": Text()}, frozenset({"events"}), 4, self._anchor,
            ),
            TERM_FREQUENCY,
            ACTION_BEFORE,
            ACTION_AFTER,
            Tool(
                "multi_hop_query_generation",
                "Splits a question that needs several facts into simpler ones, which are searched together.",
                {"sub_questions": ShortTexts(SUB_QUESTIONS)}, frozenset({"events"}), 4, self._split,
            ),
        )  # fmt: skip
        self.tools = {tool.name: tool for tool in tools if tool.needs <= toolbox.artifacts}
        """Those that this scope and these models have the means for."""

    def begin_round(self) -> None:
        self.descriptions: Mapping[str, str] = {}
        self.anchors: list[Anchor] = []
        self.sub_questions: tuple[str, ...] = ()

    def call(self, call: ToolCall) -> Observation:
        """Make a call; whatever is wrong with it is an observation. Raises Halt."""
        tool = self.tools.get(call.tool)
        if tool is None:
            return Observation(f"{call.tool} is not available.", NOT_AVAILABLE)
        if self._uses[tool.name] >= tool.most:
            return Observation(f"{tool.name} may be used {tool.most} times.", TOO_MANY)
        try:
            values = read_arguments(tool, call.arguments, videos=max(1, len(self._toolbox.videos)))
            self._uses[tool.name] += 1
            return tool.use(self._toolbox, values)
        except BadArguments as error:
            return Observation(str(error), BAD_ARGUMENTS)
        except ModelError as error:
            return failed(error.code)

    def lines(self) -> str:
        """Return a line per function for a prompt: its name, its arguments, and what it is for."""
        return "\n".join(
            f"- {tool.name}({', '.join(schema['required'][1:])}): {tool.description}"
            for tool, schema in zip(self.tools.values(), self.schemas(), strict=True)
        )

    def schemas(self) -> list[dict[str, Any]]:
        videos = max(1, len(self._toolbox.videos))
        return [call_schema(tool, videos=videos) for tool in self.tools.values()]

    def _expand(self, toolbox: Toolbox, values: Mapping[str, Any]) -> Observation:
        question = toolbox.asked.in_english
        hits = toolbox.search("entity", toolbox.text_vector(toolbox.asked.searched), ENTITIES)
        ids = list(dict.fromkeys(hit.item for hit in hits if hit.item is not None))
        known = {**described(toolbox.asked.graph.entities(ids).values()), **self._people}
        text = expand(question, known)
        if text == question:
            return Observation("Nothing is known of what the question names.", NOTHING_FOUND)
        self.descriptions = known
        toolbox.evidence.add_note(text)
        return Observation(text)

    def _anchor(self, toolbox: Toolbox, values: Mapping[str, Any]) -> Observation:
        vector = toolbox.text_vector(values["event"])
        # A topic says roughly when, where no event is near enough.
        hits = [*toolbox.search("event", vector, ANCHORS), *toolbox.search("topic", vector, 1)]
        events = toolbox.load([hit.event_id for hit in hits][:ANCHORS])
        if not events:
            return Observation(f"Nothing like that was found: {as_data(values['event'])}", NOTHING_FOUND)
        self.anchors += [Anchor(event, values["event"]) for event in events]
        room = max(32, toolbox.observation_tokens // ANCHORS)
        lines = [
            f"{toolbox.event_line(event, most_tokens=room)} ({event.span.start_ms} to {event.span.end_ms} ms)"
            for event in sorted(events, key=lambda event: (event.video_id, event.span))
        ]
        return Observation("\n".join(lines), events=tuple(event.id for event in events))

    def _split(self, toolbox: Toolbox, values: Mapping[str, Any]) -> Observation:
        self.sub_questions = values["sub_questions"]
        return Observation("Searched as well: " + "; ".join(self.sub_questions))


def expand(question: str, descriptions: Mapping[str, str]) -> str:
    """Return question with a description in brackets behind the first mention of each name, MOST_DESCRIBED at most.

    descriptions: by name, as data. A name is a whole word, in any case; the longest name counts.

    >>> expand("Where is Yogi?", {"Yogi": "the bear in a green hat"})
    'Where is Yogi (the bear in a green hat)?'
    """
    left = {name.casefold(): words for name, words in descriptions.items() if words not in question}
    names = "|".join(re.escape(name) for name in sorted(descriptions, key=lambda name: (-len(name), name)))
    least = len(left) - MOST_DESCRIBED

    def with_description(match: re.Match[str]) -> str:
        words = left.pop(match[0].casefold(), "") if len(left) > least else ""
        return f"{match[0]} ({words})" if words else match[0]

    return re.sub(rf"(?<!\w)(?:{names})(?!\w)", with_description, question, flags=re.IGNORECASE)


# --- thinking --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RoundPlan:
    """What a round does. question: as it is searched, "" for the customer's words. calls: of functions."""

    question: str = ""
    calls: tuple[ToolCall, ...] = ()

    def same_as(self, other: RoundPlan | None) -> bool:
        """Whether another plan would do the same."""
        return other is not None and (self.question.casefold(), self.calls) == (other.question.casefold(), other.calls)


def think(
    toolbox: Toolbox, known: GlobalContext, functions: Functions, done: Sequence[str], *, most: int, instruction: str
) -> RoundPlan | None:
    """Return the plan of a round, None if the reply cannot be read. Raises Halt, ModelError.

    done: what earlier rounds did, a line each. most: maximum number of calls. instruction: of the rethinking, "" in the
    first round.
    """
    profile = toolbox.asked.question.profile
    rules = load("think_rules", profile).substitute(functions=functions.lines(), most=most)
    before = ""
    if instruction:
        before = load("think_again", profile).substitute(done="\n".join(done), instruction=instruction)
    schema = object_of(
        {
            "thought": {"type": "string"},
            "question": {"type": "string"},
            "functions": list_of({"anyOf": functions.schemas()}, most),
        }
    )
    return read_plan(_ask(toolbox, "think", rules, {"before": before}, known, schema, THINK_TOKENS), most=most)


def read_plan(text: str, *, most: int) -> RoundPlan | None:
    """Return the plan in a reply, None if there is none."""
    fields = read_object(text)
    if fields is None:
        return None
    question, listed = _text(fields.get("question")), fields.get("functions")
    calls: list[ToolCall] = []
    for item in listed if isinstance(listed, list) else []:
        call = read_step(json.dumps(item if isinstance(item, dict) else {"tool": item}))
        if call is not None and call not in calls:
            calls.append(call)
    return RoundPlan(question, tuple(calls[:most])) if question or calls else None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judgement. instruction: for the next round, "" if there is nothing to do."""

    sufficient: bool
    diagnosis: str
    instruction: str


def rethink(
    toolbox: Toolbox,
    known: GlobalContext,
    functions: Functions,
    done: Sequence[str],
    *,
    answer: ParsedAnswer | None,
    doubt: str,
) -> Judgement | None:
    """Return the judgement of an answer, None if the reply cannot be read. Raises Halt, ModelError.

    done: what was done and found, a line each. doubt: why the answer is judged at all.
    """
    rules = load("rethink_rules", toolbox.asked.question.profile).substitute(functions=functions.lines())
    fields = {
        "found": "\n".join(done)[:FOUND_CHARACTERS] or "nothing",
        "answer": as_data(answer.text) if answer is not None and answer.sufficient else INSUFFICIENT,
        "reasoning": as_data(answer.reasoning)[:REASONING_CHARACTERS] if answer is not None else "none",
        "doubt": doubt,
    }
    schema = object_of(
        {"sufficient": {"type": "boolean"}, "diagnosis": {"type": "string"}, "instruction": {"type": "string"}}
    )
    return read_judgement(_ask(toolbox, "rethink", rules, fields, known, schema, RETHINK_TOKENS))


def read_judgement(text: str) -> Judgement | None:
    """Return the judgement in a reply; None without one."""
    fields = read_object(text)
    if fields is None or not {"sufficient", "instruction"} & set(fields):
        return None
    sufficient = str(fields.get("sufficient")).strip().lower() in ("true", "yes")
    return Judgement(sufficient, _text(fields.get("diagnosis")), _text(fields.get("instruction")))


def _ask(
    toolbox: Toolbox,
    stage: str,
    rules: str,
    fields: Mapping[str, str],
    known: GlobalContext,
    schema: Mapping[str, Any],
    reply_tokens: int,
) -> str:
    """Return the reasoner's reply. It reads as much of G as the window and the settings hold. fields: of the stage's
    prompt, beyond those of the question."""
    question, reasoner = toolbox.asked.question, toolbox.asked.models.reasoner
    template, system = load(f"{stage}_view", question.profile), Message("system", (rules,))
    fields = {
        "question": question.question,
        "choices": choice_lines(question.choices),
        "language": search_line(toolbox.asked.question_language),
        "conversation": toolbox.history,
        **fields,
    }
    empty = [system, Message("user", (template.substitute(fields, known=""),))]
    room = reasoner.context_tokens - count_prompt(reasoner.count_tokens, empty) - reply_tokens
    room = max(1, min(room, toolbox.asked.settings.prompt.context_tokens))
    shown = cut_lines("\n".join(known.notes), reasoner.count_tokens, room)
    return toolbox.calls.ask(
        [system, Message("user", (template.substitute(fields, known=shown),))],
        stage=stage,
        meter=toolbox.meter,
        schema=schema,
        max_tokens=reply_tokens,
        seed=toolbox.asked.seed_of(toolbox.path),
    )[0].text


def _text(value: object) -> str:
    return as_data(storable(value))[:TEXT_CHARACTERS] if isinstance(value, str) else ""
