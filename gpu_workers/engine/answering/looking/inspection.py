"""The state of an inspection: what its prompts show, where it may look, what it found (looking.rounds runs it)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import count_prompt
from gpu_workers.engine.answering.context import EventContext, event_context
from gpu_workers.engine.answering.looking.findings import Finding
from gpu_workers.engine.answering.looking.looks import (
    MAX_LOOKS,
    Look,
    Reach,
    default_looks,
    frames_of_look,
    read_plan,
)
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.roles import Message
from gpu_workers.engine.ports import StoredEvent, StoredFrame
from gpu_workers.engine.prompts import load

PLAN_TOKENS = 400
ANSWER_CHARACTERS = 80
"""Maximum length of the answer that a finding supports or contradicts, since each finding repeats it."""


@dataclass(slots=True)
class Inspection:
    """State of an inspection of some events' surroundings.

    ranking: the events that its prompts show, best first. events: these, with their texts. reach: the spans that may be
    looked at. answers: the answers in doubt, the leading one first. nearby: the events whose frames may be shown.
    looks: maximum number of looks per round. findings: only grows. missing: what the last reflection lacked.
    """

    state: State
    ranking: tuple[UUID, ...]
    events: tuple[StoredEvent, ...]
    reach: Reach
    answers: tuple[str, ...] = ()
    nearby: tuple[StoredEvent, ...] = ()
    looks: int = MAX_LOOKS
    findings: list[Finding] = field(default_factory=list)
    looked: set[Look] = field(default_factory=set)
    missing: tuple[str, ...] = ()

    @property
    def numbers(self) -> Mapping[UUID, int] | None:
        """Return the numbers of events in prompts; None to number those shown."""
        return None

    @property
    def video_numbers(self) -> Mapping[UUID, int] | None:
        """Return the numbers of videos in prompts; None to number those shown."""
        return None

    @property
    def hypothesis(self) -> str:
        return self.answers[0] if self.answers else ""

    def in_words(self) -> list[str]:
        return [finding.in_words(self.hypothesis[:ANSWER_CHARACTERS]) for finding in self.findings]

    def plan_prompt(self, asked: Asked, fields: Mapping[str, Any]) -> tuple[list[Message], Mapping[int, UUID]]:
        """Return the prompt of the next plan, and the videos by the numbers that it uses."""
        prompt = load("inspect_plan", asked.question.profile)
        shown = {**fields, "video": "\n- video: its number in the list", "example": ', "video": 1'}
        context = self.context(asked, prompt.substitute(shown, events=""), PLAN_TOKENS, stamp=in_ms)
        # The list numbers the videos of the events that it shows, and only if there are several.
        videos = dict(enumerate(sorted({event.video_id for event in context.events.values()}), start=1))
        if len(videos) < 2:
            shown |= {"video": "", "example": ""}
        return [Message("user", (prompt.substitute(shown, events=context.text),))], videos

    def judgement_prompt(self, asked: Asked, fields: Mapping[str, Any]) -> tuple[list[Message], EventContext]:
        """Return the prompt of the next reflection, and the events that its answer may cite."""
        prompt = load("inspect_reflect", asked.question.profile)
        context = self.context(asked, prompt.substitute(fields, events=""), asked.settings.prompt.answer_tokens)
        return [Message("user", (prompt.substitute(fields, events=context.text),))], context

    def planned(self, asked: Asked, text: str, videos: Mapping[int, UUID]) -> list[Look]:
        """Return the new looks of a plan inside the reach. A first plan that cannot be used is no reason not to look at
        all: then these are looks at the events."""
        looks = [look for look in read_plan(text, self.reach, videos, most=self.looks) if look not in self.looked]
        return looks or ([] if self.looked else default_looks(self.events, asked.question.question)[: self.looks])

    def frames(self, asked: Asked, look: Look, limit: int) -> tuple[list[StoredFrame], int]:
        """Return the frames of a look, at most limit, and how many it might have had."""
        return frames_of_look(asked.graph, look, self.nearby, limit=limit)

    def seen(self, asked: Asked, frames: Sequence[StoredFrame]) -> Sequence[StoredEvent]:
        """Return the events of frames that a look is about to show."""
        return self.nearby

    def found(self, asked: Asked, findings: Sequence[Finding]) -> None:
        """Take in what a look found."""
        self.findings += findings

    def context(
        self,
        asked: Asked,
        prompt: str,
        answer_tokens: int,
        *,
        stamp: Callable[[Span], str] | None = None,
    ) -> EventContext:
        """Return the events, as many as fit into the window next to prompt."""
        reasoner = asked.models.reasoner
        taken = count_prompt(reasoner.count_tokens, [Message("user", (prompt,))]) + answer_tokens
        return event_context(
            self.ranking,
            {event.id: event for event in self.events},
            (),
            count_tokens=reasoner.count_tokens,
            max_tokens=max(1, min(asked.settings.prompt.context_tokens, reasoner.context_tokens - taken)),
            stamp=stamp,
            numbers=self.numbers,
            videos=self.video_numbers,
        )


def in_ms(span: Span) -> str:
    return f"{span.start_ms}-{span.end_ms} ms"
