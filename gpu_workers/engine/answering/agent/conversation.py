"""The conversation of a loop: the messages that the reasoner reads, and the calls that it writes.

The messages only grow, so that a server's prefix cache reads each step once. If they no longer fit the window, the
oldest observations shrink to a line each until half of the window is free. That breaks the prefix once and not at every
step.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpu_workers.engine.answering.agent.tool import (
    BadArguments,
    Kind,
    Millis,
    Observation,
    Spans,
    Tool,
    call_schema,
    read_arguments,
)
from gpu_workers.engine.answering.agent.toolbox import MISSING, Toolbox
from gpu_workers.engine.answering.calls import count_prompt
from gpu_workers.engine.answering.context import cut_lines
from gpu_workers.engine.answering.contract import INSUFFICIENT
from gpu_workers.engine.answering.parsing import ParsedAnswer, letter, parse_answer
from gpu_workers.engine.answering.wording import as_data, choice_lines, search_line, without_tags
from gpu_workers.engine.ekg import CHUNK_MS
from gpu_workers.engine.models.roles import ChatModel, Message
from gpu_workers.engine.models.served.structured import list_of, object_of, read_object, storable
from gpu_workers.engine.prompts import load

# --- the calls -------------------------------------------------------------------------------------------------------

THOUGHT_CHARACTERS = 1_000
ARGUMENT_CHARACTERS = 1_000
"""Maximum length of a text in a stored argument."""

UNREADABLE, UNKNOWN = "unreadable", "unknown"
"""Actions of a step without a call, and of one that calls what is no tool."""

_TOOL_KEYS = ("tool", "name", "function", "action")
_ARGUMENTS = ("arguments", "args", "parameters", "input", "action_input")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a reasoner wants to make. arguments: as it wrote them."""

    tool: str
    arguments: Mapping[str, Any]
    thought: str = ""

    def stored(self) -> Any:
        """Return the arguments as they may be stored: whole texts up to a length, no value that JSON lacks."""
        return _stored(self.arguments)

    def in_brief(self, labels: str) -> str:
        """Return the call and the numbers of what it showed, on a line: for a conversation that must be shorter."""
        arguments = ", ".join(json.dumps(value, ensure_ascii=False)[:80] for value in self.stored().values())
        return f"{self.tool}({arguments}): {labels or 'nothing'}"


def _stored(value: Any, depth: int = 4) -> Any:
    if isinstance(value, Mapping) and depth:
        return {as_data(str(key))[:40]: _stored(item, depth - 1) for key, item in list(value.items())[:16]}
    if isinstance(value, (list, tuple)) and depth:
        return [_stored(item, depth - 1) for item in value[:16]]
    if value is None or isinstance(value, bool) or (isinstance(value, int) and abs(value) < 2**53):
        return value
    return storable(str(value))[:ARGUMENT_CHARACTERS]


def step_schema(tools: Sequence[Tool], *, videos: int) -> dict[str, Any]:
    """Return the JSON schema of a step: a thought, then a call of one of the tools.

    Its root is an object, since OpenAI refuses anyOf there; everything is required, since llama.cpp writes required
    properties first, and the thought must precede the call.
    """
    calls = [call_schema(tool, videos=videos) for tool in tools]
    return object_of({"thought": {"type": "string"}, "call": {"anyOf": calls}})


def read_step(text: str) -> ToolCall | None:
    """Return the call in a reply, also of a server that keeps to no schema; None if there is none.

    The call is read inside "call" or at the top, its name under tool, name, function or action, its arguments next to
    the name or in an object (or its text) of their own. A bare answer is a call of `finish`.
    """
    fields = read_object(text)
    if fields is None:
        return None
    thought = as_data(str(fields.get("thought", fields.get("reasoning")) or ""))[:THOUGHT_CHARACTERS]
    call = fields.get("call")
    if not isinstance(call, Mapping):
        call = {**fields, "tool": call} if isinstance(call, str) else fields
    name = next((call[key] for key in _TOOL_KEYS if isinstance(call.get(key), str)), FINISH if "answer" in call else "")
    if not name:
        return None
    given: dict[str, Any] = {key: value for key, value in call.items() if key not in (*_TOOL_KEYS, *_ARGUMENTS)}
    for key in _ARGUMENTS:
        nested = call.get(key)
        if isinstance(nested, str):
            nested = read_object(nested)
        if isinstance(nested, Mapping):
            given |= nested
    return ToolCall(as_data(name)[:40], given, thought)


def call_key(tool: Tool, values: Mapping[str, Any]) -> str:
    """Return what is equal for two calls that would show the same: times count by the chunks that they touch."""
    parts: list[Any] = [tool.name]
    for name, value in values.items():
        kind = tool.arguments[name]
        if isinstance(kind, Millis):
            parts.append(-(-value // CHUNK_MS) if name.startswith("end") else value // CHUNK_MS)
        elif isinstance(kind, Spans):
            parts.append(sorted((video, s.start_ms // CHUNK_MS, -(-s.end_ms // CHUNK_MS)) for video, s in value))
        else:
            parts.append(" ".join(value.split()) if isinstance(value, str) else value)
    return json.dumps(parts, default=str)


# --- finish ----------------------------------------------------------------------------------------------------------

FINISH = "finish"
EVIDENCE = 8
"""Maximum number of events that an answer names."""


@dataclass(frozen=True)
class _Unread(Kind):
    """An argument of `finish`, which parse_answer() reads."""

    form: Mapping[str, Any]
    words: str


def finish_tool(choices: Sequence[str], *, abstain: bool) -> Tool:
    """Return `finish` for a question with these choices. abstain: whether the answer may be "insufficient"."""
    form: dict[str, Any] = {"type": "string"}
    if choices:
        letters = [letter(index) for index in range(len(choices))]
        form["enum"] = [*letters, INSUFFICIENT] if abstain else letters
    return Tool(
        FINISH,
        "Give the answer. sufficient: whether what was seen decides it. evidence: numbers of the events that show it.",
        {
            "answer": _Unread(form, _answer_in_words(choices, abstain=abstain)),
            "sufficient": _Unread({"type": "boolean"}, "true or false"),
            "evidence": _Unread(list_of({"type": "integer"}, EVIDENCE), "list of numbers"),
        },
        frozenset(),
        1,
        lambda toolbox, arguments: Observation("The answer was given."),
    )


def _answer_in_words(choices: Sequence[str], *, abstain: bool) -> str:
    if not choices:
        return "a short, direct answer in one sentence"
    return f"a letter from A to {letter(len(choices) - 1)}{f', or {INSUFFICIENT}' if abstain else ''}"


def proposed_answer(toolbox: Toolbox, finish: Tool, step: ToolCall) -> ParsedAnswer:
    """Return the answer of a call of `finish`. It cites events that were shown, and no others. An answer that nothing
    decides is an abstention, if the question may be abstained from. Raises BadArguments."""
    choices, abstain = toolbox.asked.question.choices, toolbox.asked.settings.samples.abstain
    given = read_arguments(finish, {"sufficient": True, "evidence": [], **step.arguments}, videos=1)
    undecided = str(given["sufficient"]).casefold() in ("false", "no")
    parsed = parse_answer(json.dumps({"answer": given["answer"], "evidence": given["evidence"]}), choices)
    if parsed is None or (not parsed.sufficient and choices and not abstain):
        raise BadArguments(f"answer must be {_answer_in_words(choices, abstain=abstain)}.")
    if undecided and abstain:
        return ParsedAnswer(INSUFFICIENT, None, sufficient=False, reasoning=step.thought)
    cited = tuple(number for number in parsed.cited[:EVIDENCE] if number in toolbox.evidence.events)
    return replace(parsed, reasoning=step.thought, cited=cited)


# --- the messages ----------------------------------------------------------------------------------------------------

REPLY_CHARACTERS = 4_000
"""Maximum length of a reply that is repeated in the conversation."""


@dataclass(slots=True)
class _Turn:
    """A reply and what it led to. brief: the observation in a line; "" once it is shortened."""

    reply: str
    observation: str
    brief: str


class Conversation:
    """Messages of one loop. reply_tokens: of the reasoner's window that are kept for a reply."""

    def __init__(self, system: str, opening: str, *, reasoner: ChatModel, reply_tokens: int) -> None:
        self._count, self._window = reasoner.count_tokens, reasoner.context_tokens
        self._reply_tokens = reply_tokens
        self._system = system
        self._turns: list[_Turn] = []
        most = max(1, self._window // 2 - count_prompt(self._count, [Message("system", (system,))]))
        self._opening = cut_lines(opening, self._count, most)

    def add(self, reply: str, observation: str, brief: str) -> None:
        """Add a reply and the observation that it led to, both without tags that end an observation."""
        text = without_tags(reply)[:REPLY_CHARACTERS] or "(no reply)"
        self._turns.append(_Turn(text, _observed(observation), brief))

    def close(self, instruction: str) -> None:
        """Add an instruction to what is sent next."""
        if self._turns:
            self._turns[-1].observation += f"\n{instruction}"
        else:
            self._opening += f"\n{instruction}"

    def messages(self) -> list[Message]:
        """Return the messages, shortened if they do not fit the window."""
        room = self._window - self._reply_tokens
        if self.tokens() > room:
            for turn in self._turns[:-1]:
                if turn.brief:
                    turn.observation, turn.brief = _observed(turn.brief), ""
                if self.tokens() <= self._window // 2:
                    break
        while self.tokens() > room and len(self._turns) > 1:
            # Even the lines are too long: the oldest steps go.
            self._turns.pop(0)
        return self._wire()

    def tokens(self) -> int:
        """Return an upper estimate of the tokens of the messages."""
        return count_prompt(self._count, self._wire())

    def _wire(self) -> list[Message]:
        messages = [Message("system", (self._system,)), Message("user", (self._opening,))]
        for turn in self._turns:
            messages += [Message("assistant", (turn.reply,)), Message("user", (turn.observation,))]
        return messages


def _observed(text: str) -> str:
    return f"<observation>\n{without_tags(text)}\n</observation>"


SMALL_WINDOW = "small_window"
"""Code of Answer.degraded where the reasoner's window is too small for all tools."""

CORRECTION = 'That was no call. Reply with one JSON object: {"thought": "...", "call": {"tool": "...", ...}}'
FINISH_NOW = "Only finish may be called now: give the answer that fits best what you have seen."
NO_EVIDENCE = "No event was named that shows this. Use a tool before you finish, and name the events."
"""What a reasoner reads whose reply is no call, who must end, or who ends before it has looked."""

MOST_VIDEOS = 20
"""Maximum number of videos that are listed."""


def usable_tools(
    toolbox: Toolbox, tools: Sequence[Tool], finishing: Tool, rules: str, steps: int
) -> tuple[list[Tool], str]:
    """Return the tools that can be used here, as many as a quarter of the reasoner's window can describe, and the
    system prompt. What the other tools lack is noted on the toolbox."""
    lacks = {
        tool.name: sorted(MISSING[need] for need in tool.needs - toolbox.artifacts if need in MISSING)
        for tool in tools
        if not tool.needs <= toolbox.artifacts
    }
    toolbox.missing.update(dict.fromkeys(sorted({code for codes in lacks.values() for code in codes})))
    unavailable = "; ".join(f"{name} ({', '.join(codes)})" if codes else name for name, codes in lacks.items())
    usable = [tool for tool in tools if tool.name not in lacks]
    videos, reasoner = max(1, len(toolbox.extents)), toolbox.asked.models.reasoner
    template = load("loop_rules", toolbox.asked.question.profile)
    while True:
        system = template.substitute(
            rules=rules,
            tools="\n".join(tool.in_words(videos=videos) for tool in (*usable, finishing)),
            unavailable=f"Not available for this video: {unavailable}." if unavailable else "",
            steps=steps,
        )
        if len(usable) < 2 or reasoner.count_tokens(system) <= reasoner.context_tokens // 4:
            return usable, system
        usable = usable[:-1]
        toolbox.missing[SMALL_WINDOW] = None


def opening_prompt(toolbox: Toolbox, opening: str) -> str:
    """Return what a reasoner reads before its first step. opening: of the method."""
    question = toolbox.asked.question
    videos = [
        f"Video {number}: {toolbox.place(video, toolbox.extents[video]).split(' ')[-1]}"
        for number, video in list(toolbox.videos.items())[:MOST_VIDEOS]
    ]
    several = f"There are {len(toolbox.videos)} videos in all." if len(toolbox.videos) > len(videos) else ""
    text = load("loop_opening", question.profile).substitute(
        question=question.question,
        choices=choice_lines(question.choices),
        language=search_line(toolbox.asked.question_language),
        videos="\n".join([*videos, several]).strip(),
        opening=opening,
    )
    return f"{toolbox.history}\n{text}" if toolbox.history else text
