"""An inspection that may look anywhere in the scope: its first plan may go over all of it coarsely.

Its cost is bounded by rounds, looks and frames, whatever the length of the videos.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import count_prompt, needed_checker
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.looking.inspection import PLAN_TOKENS, Inspection, in_ms
from gpu_workers.engine.answering.looking.looks import (
    HIGH_FRAMES,
    MIN_FPS,
    Finding,
    Look,
    Reach,
    default_looks,
    read_plan,
)
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.wording import abstain_rule, answer_form, choice_lines, conversation, search_line
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.models.roles import Message
from gpu_workers.engine.ports import StoredEvent, StoredFrame
from gpu_workers.engine.prompts import load
from gpu_workers.engine.retrieval.fusion import RankedEvent

SCAN_PROMPTS = frozenset({"scan_rules", "scan_opening", "scan_plan", "scan_judge"})

SCAN_FRAMES = 64
"""Frames of a look over a whole video: as many as a checker takes at once."""

MOST_VIDEOS = 20
"""Maximum number of videos whose extents are listed."""

FINDING_TOKENS = 1_500
"""Tokens that the first choice of events leaves for the findings of all rounds."""


@dataclass(slots=True)
class ScopeInspection(Inspection):
    """An inspection whose reach is the whole scope. desk: its sightings number what is shown and found. about: the
    overview, "" without one. shown: the lines of the events in every prompt, "" before the first one."""

    desk: Desk | None = None
    about: str = ""
    shown: str = ""

    @classmethod
    def of(cls, desk: Desk, events: Sequence[StoredEvent], *, about: str, looks: int) -> ScopeInspection:
        """Return the inspection of a desk's scope that begins with these events, best first."""
        for event in sorted(events, key=lambda event: (event.video_id, event.span)):
            desk.sightings.event(event)
        ranking = tuple(event.id for event in events)
        state = State("", tuple(RankedEvent(event_id, 1.0 / rank) for rank, event_id in enumerate(ranking, start=1)))
        reach: Reach = {video_id: [span] for video_id, span in desk.extents.items()}
        return cls(state, ranking, tuple(events), reach, looks=looks, desk=desk, about=about)

    @property
    def _desk(self) -> Desk:
        assert self.desk is not None
        return self.desk

    @property
    def numbers(self) -> Mapping[UUID, int]:
        return self._desk.sightings.numbers

    @property
    def video_numbers(self) -> Mapping[UUID, int]:
        return {video: number for number, video in self._desk.videos.items()}

    @property
    def least_fps(self) -> float:
        """Return the rate at which SCAN_FRAMES cover the longest video; after the first plan, that of any look."""
        longest = max((span.duration_ms for spans in self.reach.values() for span in spans), default=1)
        return MIN_FPS if self.looked else min(MIN_FPS, 1_000 * SCAN_FRAMES / longest)

    def plan_prompt(self, asked: Asked, fields: Mapping[str, Any]) -> tuple[list[Message], Mapping[int, UUID]]:
        task = {"missing": fields["missing"], "least_fps": f"{self.least_fps:.2g}"}
        return self._prompt(asked, "scan_plan", task, PLAN_TOKENS), self._desk.videos

    def judgement_prompt(self, asked: Asked, fields: Mapping[str, Any]) -> tuple[list[Message], EventContext]:
        return self._prompt(asked, "scan_judge", {}, asked.settings.prompt.answer_tokens), self.context(asked, "", 0)

    def _prompt(self, asked: Asked, name: str, task: Mapping[str, str], reply_tokens: int) -> list[Message]:
        """Return the rules and the opening with all findings so far, then the task.

        Plans and judgements of all rounds begin alike, so that a server's prefix cache reads the events once.
        """
        question = asked.question
        rules = self._rules(asked)
        close = load(name, question.profile).substitute(task)
        findings = "\n".join(f"{number}. {text}" for number, text in enumerate(self.in_words(), start=1))

        def prompt(events: str) -> list[Message]:
            opening = load("scan_opening", question.profile).substitute(
                about=self.about,
                events=events,
                extents=self._extents(),
                conversation=f"<text>\n{conversation(question.history)}\n</text>" if question.history else "",
                question=question.question,
                choices=choice_lines(question.choices),
                language=search_line(asked.question_language),
                found=findings or "none yet",
            )
            return [Message("system", (rules,)), Message("user", (f"{opening}\n\n{close}",))]

        reasoner = asked.models.reasoner
        room = reasoner.context_tokens - reply_tokens
        if not self.shown or count_prompt(reasoner.count_tokens, prompt(self.shown)) > room:
            # The first choice leaves room for findings.
            later = 0 if self.shown else min(FINDING_TOKENS, reasoner.context_tokens // 8)
            taken = "\n".join(str(part) for message in prompt("") for part in message.parts)
            self.shown = self.context(asked, taken, reply_tokens + later, stamp=in_ms).text
        return prompt(self.shown)

    def _rules(self, asked: Asked) -> str:
        question, several = asked.question, self._desk.several
        return load("scan_rules", question.profile).substitute(
            looks=self.looks,
            frames=min(SCAN_FRAMES, needed_checker(asked.models).max_frames),
            video="\n- video: its number in the list" if several else "",
            example=', "video": 1' if several else "",
            abstain=abstain_rule(question.choices, abstain=True),
            words=asked.settings.prompt.reasoning_words,
            answer_form=answer_form(question.choices, abstain=True, language=asked.answer_language),
        )

    def _extents(self) -> str:
        desk = self._desk
        lines = []
        for number, video in list(desk.videos.items())[:MOST_VIDEOS]:
            span = desk.extents[video]
            name = f"video {number}, " if desk.several else ""
            lines.append(f"- {name}{span.start_ms} to {span.end_ms} ms ({clock(span.end_ms, hours=True)})")
        if len(desk.videos) > MOST_VIDEOS:
            lines.append(f"- and {len(desk.videos) - MOST_VIDEOS} videos more")
        return "\n".join(lines)

    def planned(self, asked: Asked, text: str, videos: Mapping[int, UUID]) -> list[Look]:
        planned = read_plan(text, self.reach, videos, most=self.looks, least_fps=self.least_fps)
        looks = [look for look in planned if look not in self.looked]
        if looks or self.looked:
            return looks
        find = asked.question.question
        coarse = [Look(video, span, find, self.least_fps) for video, spans in self.reach.items() for span in spans]
        return (default_looks(self.events, find) or coarse)[: self.looks]

    def frames(self, asked: Asked, look: Look, limit: int) -> tuple[list[StoredFrame], int]:
        """Return the frames of a look, evenly spread, and how many its rate would have had."""
        wanted = max(1, round(look.span.duration_ms * look.fps / 1_000))
        most = min(limit, SCAN_FRAMES, wanted, HIGH_FRAMES if look.high else wanted)
        frames = list(asked.graph.frames_between(look.video_id, look.span, limit=most))
        return frames, max(wanted, len(frames)) if frames else 0

    def seen(self, asked: Asked, frames: Sequence[StoredFrame]) -> Sequence[StoredEvent]:
        return self._desk.load(frame.event_id for frame in frames)

    def found(self, asked: Asked, findings: Sequence[Finding]) -> None:
        """Take in what a look found: its events are shown from now on, before all others."""
        self.findings += findings
        events = self._desk.load(frame.event_id for finding in findings for frame in finding.frames)
        for event in events:
            self._desk.sightings.event(event)
        for finding in findings:
            for frame in finding.frames:
                self._desk.sightings.frame(frame)
        self._desk.sightings.found(findings)
        known = {event.id: event for event in (*events, *self.events)}
        self.events, self.ranking = tuple(known.values()), tuple(known)
