"""The functions that thinking before retrieval may call (AVATAAR, table I).

Web search is not built: its query would carry words of the video to a stranger, and its result a stranger's words in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpu_workers.engine.answering.agent.caption_tools import TERM_FREQUENCY
from gpu_workers.engine.answering.agent.frame_tools import ACTION_AFTER, ACTION_BEFORE
from gpu_workers.engine.answering.agent.tool import (
    BAD_ARGUMENTS,
    NOT_AVAILABLE,
    NOTHING_FOUND,
    REPEATED,
    TOO_MANY,
    BadArguments,
    Kind,
    Observation,
    Text,
    Tool,
    failed,
    read_arguments,
)
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.methods.avataar.context_of_round import Anchor, described
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.models.served.structured import list_of, storable

NAMES = frozenset(
    {
        "expand_query",
        "extract_temporal_anchors",
        "term_frequency",
        "action_before",
        "action_after",
        "multi_hop_query_generation",
    }
)
"""Names of all functions. What else a reply calls, such as web_search, is not available."""

SUB_QUESTIONS = 3
ANCHORS = 3
"""Maximum number of events that one description is anchored to."""

ENTITIES = 8
"""Entities nearest to a question among which its names are sought."""

PHRASE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class ShortTexts(Kind):
    """One to `most` texts, the longer ones cut."""

    most: int

    def schema(self, *, videos: int = 1) -> dict[str, Any]:
        return list_of({"type": "string"}, self.most)

    def read(self, value: Any, *, videos: int = 1) -> tuple[str, ...]:
        items = [value] if isinstance(value, str) else value if isinstance(value, (list, tuple)) else []
        texts = [as_data(storable(item))[:PHRASE_CHARACTERS] for item in items if isinstance(item, str)]
        phrases = tuple(dict.fromkeys(text for text in texts if text))[: self.most]
        if not phrases:
            raise BadArguments(f"a list of 1 to {self.most} short texts")
        return phrases

    def wording(self, *, videos: int = 1) -> str:
        return f"a list of 1 to {self.most} short texts"


@dataclass(slots=True)
class Functions:
    """The functions of one question, and what those of the current round have brought.

    people: descriptions from G. expanded: whether the question is searched with descriptions. descriptions: those known
    so far. anchors: where what was named happens. sub_questions: to be retrieved for as well.
    """

    people: Mapping[str, str]
    expanded: bool = False
    descriptions: dict[str, str] = field(default_factory=dict)
    anchors: list[Anchor] = field(default_factory=list)
    sub_questions: tuple[str, ...] = ()
    used: dict[str, int] = field(default_factory=dict)
    calls: set[str] = field(default_factory=set)

    def begin_round(self) -> None:
        self.expanded, self.anchors, self.sub_questions = False, [], ()

    def searched(self, question: str) -> str:
        """Return question as it is searched: with descriptions, if they were asked for."""
        return expand(question, self.descriptions) if self.expanded else question

    def offered(self, toolbox: Toolbox) -> list[Tool]:
        """Return the functions that this scope and these models have the means for."""
        tools = [
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
        ]  # fmt: skip
        return [tool for tool in tools if tool.needs <= toolbox.artifacts]

    def call(self, toolbox: Toolbox, name: str, given: Mapping[str, Any]) -> Observation:
        """Make a call; whatever is wrong with it is an observation. Raises Halt."""
        tool = next((tool for tool in self.offered(toolbox) if tool.name == name), None)
        if tool is None:
            return Observation(f"{as_data(name)[:40]} is not available.", NOT_AVAILABLE)
        if self.used.get(name, 0) >= tool.most:
            return Observation(f"{name} may be used {tool.most} times.", TOO_MANY)
        try:
            values = read_arguments(tool, given, videos=max(1, len(toolbox.videos)))
            key = f"{name} {values}"
            # A search that was asked for again is made again for the new round; a look and a count are not.
            if key in self.calls and tool in (TERM_FREQUENCY, ACTION_BEFORE, ACTION_AFTER):
                return Observation(f"{name} was called like this before.", REPEATED)
            self.calls.add(key)
            self.used[name] = self.used.get(name, 0) + 1
            observation = tool.use(toolbox, values)
        except BadArguments as error:
            return Observation(str(error), BAD_ARGUMENTS)
        except ModelError as error:
            return failed(error.code)
        return observation

    def _expand(self, toolbox: Toolbox, values: Mapping[str, Any]) -> Observation:
        question = toolbox.asked.in_english
        hits = toolbox.search("entity", toolbox.text_vector(toolbox.asked.searched), ENTITIES)
        ids = list(dict.fromkeys(hit.item for hit in hits if hit.item is not None))
        self.descriptions = {**described(toolbox.asked.graph.entities(ids).values()), **self.people}
        text = expand(question, self.descriptions)
        if text == question:
            return Observation("Nothing is known of what the question names.", NOTHING_FOUND)
        self.expanded = True
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


MOST = 3
"""Maximum number of names of a question that are described."""


def expand(question: str, descriptions: Mapping[str, str]) -> str:
    """Return question with a description in brackets behind the first mention of each name, longest names first.

    descriptions: by name, as data. A name is a whole word, in any case; a name inside another is not described again.

    >>> expand("Where is Yogi?", {"Yogi": "the bear in a green hat"})
    'Where is Yogi (the bear in a green hat)?'
    """
    taken: list[tuple[int, int]] = []
    added: list[tuple[int, str]] = []
    for name in sorted(descriptions, key=lambda name: (-len(name), name)):
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE):
            start, end = match.span()
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            taken.append((start, end))
            if descriptions[name] not in question:
                added.append((end, f" ({descriptions[name]})"))
            break
    expanded = question
    for position, words in sorted(sorted(added)[:MOST], reverse=True):
        expanded = expanded[:position] + words + expanded[position:]
    return expanded
