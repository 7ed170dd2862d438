"""The three questions of a round: predict, reflect, find (VideoAgent, sections 3.2 and 3.3).

They are one conversation, so that a server with a prefix cache reads the moments once a round.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.agent.evidence_answer import weighs_choices
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import count_prompt
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.methods.videoagent.moments import SeenMoment, Segment, Wanted, moment_lines
from gpu_workers.engine.answering.presets import changed
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.sampling import REPAIR_CHARACTERS, draw_answers
from gpu_workers.engine.answering.search.summary_answer import AnswerNode, scored
from gpu_workers.engine.answering.wording import (
    abstain_rule,
    answer_form,
    as_data,
    choice_lines,
    search_line,
    without_tags,
)
from gpu_workers.engine.models.roles import Message
from gpu_workers.engine.models.served.structured import list_of, object_of, read_object, storable
from gpu_workers.engine.prompts import load
from gpu_workers.engine.retrieval.fusion import RankedEvent

SUFFICIENT = 3
"""Confidence that ends the search; 2 is partial information, 1 is too little."""

UNSURE = 1
"""Confidence of a reflection that cannot be read."""

DESCRIPTION_CHARACTERS = 300

_LEVEL = re.compile(r"\s*([1-3])\b(?!\s*[./]\s*\d)")

REFLECT_TOKENS = 300
FIND_TOKENS = 400


@dataclass(slots=True)
class Talk:
    """The conversation of one round. messages: only grows."""

    asked: Asked
    messages: list[Message]


def begin(toolbox: Toolbox, seen: Sequence[SeenMoment], *, commits: bool) -> Talk:
    """Return the conversation of a round over these moments, before its first question is asked.

    commits: the prediction must give an answer, else it may abstain if the settings let it.
    """
    settings = toolbox.asked.settings
    abstain = settings.samples.abstain and not commits
    # All samples in one request: a round has three calls.
    n = 1 if weighs_choices(toolbox.asked) else settings.samples.n
    asked = replace(toolbox.asked, settings=changed(settings, abstain=abstain, early_majority=False, n=n))
    question = asked.question
    fields = {
        "conversation": toolbox.history,
        "question": question.question,
        "choices": choice_lines(question.choices),
        "abstain": abstain_rule(question.choices, abstain=abstain),
        "words": settings.prompt.reasoning_words,
        "answer_form": answer_form(question.choices, abstain=abstain, language=asked.answer_language),
    }
    rules = Message("system", (load("watch_rules", question.profile).substitute(),))
    prompt = load("watch_predict", question.profile)
    reasoner = asked.models.reasoner
    taken = count_prompt(reasoner.count_tokens, [rules, Message("user", (prompt.substitute(fields, events=""),))])
    # The prediction and what follows it have to fit as well.
    taken += settings.prompt.answer_tokens + REFLECT_TOKENS + 2 * FIND_TOKENS
    room = max(1, min(settings.prompt.context_tokens, reasoner.context_tokens - taken))
    shown = prompt.substitute(fields, events=moment_lines(toolbox, seen, most_tokens=room))
    return Talk(asked, [rules, Message("user", (shown,))])


def predict(toolbox: Toolbox, talk: Talk, seen: Sequence[SeenMoment], path: str) -> AnswerNode:
    """Return the prediction as a node with its votes; it cites events by their numbers. Raises nothing of a model."""
    asked, calls = talk.asked, toolbox.calls
    draw = draw_answers(asked, calls, talk.messages, path=path, n=asked.settings.samples.n, stage="predict")
    if draw.halt:
        calls.halt(draw.halt)
    ids: tuple[UUID, ...] = tuple(dict.fromkeys(item.event.id for item in seen))
    numbers = {event_id: toolbox.evidence.numbers[event_id] for event_id in ids}
    events = {numbers[item.event.id]: item.event for item in seen}
    state = State(path, tuple(RankedEvent(event_id, 1.0 / len(ids)) for event_id in ids))
    frames = {item.event.id: item.frame for item in reversed(seen) if item.frame is not None}
    node = AnswerNode(path, state, EventContext("", numbers, events), draw, scored(asked, draw), seen=frames)
    if node.votes:
        said = without_tags(draw.texts[node.votes[0].representative])[:REPAIR_CHARACTERS]
        talk.messages.append(Message("assistant", (said or "{}",)))
    return node


def reflect(toolbox: Toolbox, talk: Talk, path: str) -> tuple[int | None, str]:
    """Return the confidence in the prediction, None if it cannot be read, and the reply. Raises Halt, ModelError."""
    question, words = talk.asked.question, talk.asked.settings.prompt.reasoning_words
    prompt = load("watch_reflect", question.profile).substitute(words=words)
    talk.messages.append(Message("user", (prompt,)))
    sample = toolbox.calls.ask(
        talk.messages,
        stage="reflect",
        meter=toolbox.meter,
        schema=reflection_schema(),
        max_tokens=REFLECT_TOKENS,
        seed=talk.asked.seed_of(path),
    )[0]
    # What it says may repeat words of the video.
    talk.messages.append(Message("assistant", (without_tags(sample.text)[:REPAIR_CHARACTERS] or "{}",)))
    return read_confidence(sample.text), sample.text


def ask_missing(
    toolbox: Toolbox, talk: Talk, seen: Sequence[SeenMoment], segments: Sequence[Segment], *, items: int, path: str
) -> list[Wanted] | None:
    """Return what should be seen next, in open segments; None if the reply cannot be read. Raises Halt, ModelError."""
    open_segments = [segment for segment in segments if segment.parts]
    numbers = [segment.number for segment in open_segments]
    across = any(len(segment.parts) > 1 for segment in open_segments)
    prompt = load("watch_find", talk.asked.question.profile).substitute(
        segments=segment_lines(toolbox, seen, open_segments),
        across="The videos follow one another. A segment that names several goes on from one to the next."
        if across
        else "",
        language=search_line(talk.asked.question_language),
        items=items,
    )
    talk.messages.append(Message("user", (prompt,)))
    sample = toolbox.calls.ask(
        talk.messages,
        stage="find",
        meter=toolbox.meter,
        schema=wanted_schema(numbers, items),
        max_tokens=FIND_TOKENS,
        seed=talk.asked.seed_of(path),
    )[0]
    return read_wanted(sample.text, numbers, items)


def segment_lines(toolbox: Toolbox, seen: Sequence[SeenMoment], segments: Sequence[Segment]) -> str:
    """Return a line per segment: its number, the moments at its ends, and its time in each video that it reaches."""
    ordered = sorted(seen, key=lambda item: item.moment)
    names = [
        toolbox.evidence.label_frame(item.frame) if item.frame is not None else toolbox.evidence.label_event(item.event)
        for item in ordered
    ]
    parts = []
    for segment in segments:
        after = names[segment.number - 2] if segment.number > 1 else ""
        before = names[segment.number - 1] if segment.number <= len(names) else ""
        ends = (
            f"between {after} and {before}" if after and before else f"before {before}" if before else f"after {after}"
        )
        places = [toolbox.place(part.video_id, part.span) for part in segment.parts]
        if len(places) > 3:
            places = [places[0], f"{len(places) - 2} whole videos", places[-1]]
        parts.append(f"{segment.number}. {ends if names else 'everything'}: {', then '.join(places)}")
    return "\n".join(parts)


def reflection_schema() -> dict[str, Any]:
    return object_of({"reasoning": {"type": "string"}, "confidence": {"type": "integer", "enum": [1, 2, SUFFICIENT]}})


def read_confidence(text: str) -> int | None:
    """Return 1, 2 or 3; None if the reflection does not say, or says something else."""
    value = (read_object(text) or {}).get("confidence")
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        return value if value in (1, 2, SUFFICIENT) else None
    match = _LEVEL.match(value) if isinstance(value, str) else None
    return int(match.group(1)) if match else None


def wanted_schema(segments: Sequence[int], most: int) -> dict[str, Any]:
    """Return the schema of a list of at most most items in these segments."""
    item = object_of({"segment": {"type": "integer", "enum": list(segments)}, "description": {"type": "string"}})
    return object_of({"missing": {"type": "string"}, "items": list_of(item, most)})


def read_wanted(text: str, segments: Collection[int], most: int) -> list[Wanted] | None:
    """Return what a reply wants to see, at most most things, each once; None if the reply cannot be read.

    A thing in no open segment or without words is left out.
    """
    items = (read_object(text) or {}).get("items")
    if not isinstance(items, list):
        return None
    wanted = [_wanted(item) for item in items if isinstance(item, dict)]
    return list(dict.fromkeys(item for item in wanted if item is not None and item.segment in segments))[:most]


def _wanted(item: dict[str, Any]) -> Wanted | None:
    segment, description = item.get("segment"), item.get("description")
    if isinstance(segment, str) and segment.strip().isdecimal():
        segment = int(segment)
    if isinstance(segment, bool) or not isinstance(segment, int) or not isinstance(description, str):
        return None
    words = as_data(storable(description))[:DESCRIPTION_CHARACTERS]
    return Wanted(segment, words) if words else None
