"""`avp_lite`: plan looks, observe, reflect, over the whole scope (after Active Video Perception, arXiv 2512.05774, from
the paper's description only).

It begins with the overview and the events that fit the question, so that its looks need not search for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.agent.evidence_answer import (
    MethodResult,
    answer_from_evidence,
    ranked_state,
)
from gpu_workers.engine.answering.agent.frame_tools import extents_in_words
from gpu_workers.engine.answering.agent.search_tools import event_lines, show_overview
from gpu_workers.engine.answering.agent.step_records import StepRecorder, step_detail
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls, count_prompt, needed_checker
from gpu_workers.engine.answering.catalogue import AVP_LITE, CATALOGUE
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.contract import Answer
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
from gpu_workers.engine.answering.looking.rounds import look_in_rounds
from gpu_workers.engine.answering.methods.method import CataloguedMethod, report_partial
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.presets import changed, own_settings
from gpu_workers.engine.answering.wording import abstain_rule, answer_form, choice_lines, search_line
from gpu_workers.engine.models.roles import Message
from gpu_workers.engine.ports import StoredEvent, StoredFrame
from gpu_workers.engine.prompts import load
from gpu_workers.engine.retrieval.tri_view import ViewQueries, retrieve

EVENTS = 16
"""Events that the first plan reads; an answer of `ava` reads as many."""

SCAN_FRAMES = 64
"""Frames of a look over a whole video: as many as a checker takes at once."""

FINDING_TOKENS = 1_500
"""Tokens that the first choice of events leaves for the findings of all rounds."""


class AvpLite(CataloguedMethod, card=CATALOGUE["avp_lite"]):
    def answer(self, asked: Asked, calls: Calls) -> Answer:
        if asked.settings.effort == "paper":
            asked = replace(asked, settings=changed(asked.settings, check_samples=1))
        toolbox = Toolbox(asked, calls)
        recorder = StepRecorder(toolbox, total=2)
        proposed: ParsedAnswer | None = None
        with recorder.course():
            if toolbox.extents:
                events, about = _begin(toolbox, recorder)
                if {"frames", "checker"} <= toolbox.artifacts:
                    with calls.timed("search"):
                        proposed = _look(toolbox, recorder, events, about)
        result = MethodResult(self.needs, recorder.records, proposed, error=recorder.error)
        return answer_from_evidence(toolbox, result)


def _begin(toolbox: Toolbox, recorder: StepRecorder) -> tuple[list[StoredEvent], str]:
    """Return the events that fit the question, best first, and the overview. Raises ModelError of an embedder."""
    asked = toolbox.asked
    with recorder.step("overview") as step:
        about = show_overview(toolbox) if "topics" in toolbox.artifacts else ""
        step.observation, step.error = about, "" if about else "nothing_found"
    with recorder.step("clip_search", query=asked.query) as step:
        found = retrieve(
            asked.graph,
            ViewQueries.same(asked.query),
            asked.settings.retrieval,
            text_embedder=asked.models.text_embedder,
            frame_embedder=asked.models.frame_embedder,
            meter=toolbox.meter,
        )
        toolbox.record_similarities([found.top_similarity])
        events = toolbox.load(event.event_id for event in found.ranking[:EVENTS])
        step.events, step.error = events, "" if events else "nothing_found"
        in_time = sorted(events, key=lambda event: (event.video_id, event.span))
        step.observation = "\n".join(event_lines(toolbox, in_time, toolbox.observation_tokens))
    return events, about


def _look(toolbox: Toolbox, recorder: StepRecorder, events: Sequence[StoredEvent], about: str) -> ParsedAnswer | None:
    """Look in rounds and record each; return the last answer of a round, None if none has one."""
    settings = own_settings(toolbox.asked.settings, AVP_LITE)
    inspection = ScopeInspection.of(toolbox, events, about=about, looks=settings.looks)
    level = count(1)
    nodes, records = look_in_rounds(
        toolbox.asked,
        toolbox.calls,
        inspection,
        rounds=settings.rounds,
        on_round=lambda node: report_partial(toolbox.calls, node, level=next(level)),
    )
    for record in records:
        detail = step_detail("observe", {}, "\n".join(record.seen), record.error)
        path = f"S{len(recorder.records) + 1:02}"
        recorder.records.append(replace(record, path=path, depth=1, action="observe", detail=detail))
    return next((node.answer for node in reversed(nodes) if node.answers), None)


@dataclass(slots=True, kw_only=True)
class ScopeInspection(Inspection):
    """An inspection that may look anywhere in the scope: its first plan may go over all of it coarsely. Its cost is
    bounded by rounds, looks and frames, whatever the length of the videos. toolbox: its evidence log numbers what is
    shown and found. about: the overview, "" without one. shown: the lines of the events in every prompt, "" before the
    first one."""

    toolbox: Toolbox
    about: str
    shown: str = ""

    @classmethod
    def of(cls, toolbox: Toolbox, events: Sequence[StoredEvent], *, about: str, looks: int) -> ScopeInspection:
        """Return the inspection of a toolbox's scope that begins with these events, best first."""
        for event in sorted(events, key=lambda event: (event.video_id, event.span)):
            toolbox.evidence.label_event(event)
        ranking = tuple(event.id for event in events)
        reach: Reach = {video_id: [span] for video_id, span in toolbox.extents.items()}
        state = ranked_state("", events)
        return cls(state, ranking, tuple(events), reach, looks=looks, toolbox=toolbox, about=about)

    @property
    def numbers(self) -> Mapping[UUID, int]:
        return self.toolbox.evidence.numbers

    @property
    def video_numbers(self) -> Mapping[UUID, int]:
        return self.toolbox.numbers

    @property
    def least_fps(self) -> float:
        """Return the rate at which SCAN_FRAMES cover the longest video; after the first plan, that of any look."""
        longest = max((span.duration_ms for spans in self.reach.values() for span in spans), default=1)
        return MIN_FPS if self.looked else min(MIN_FPS, 1_000 * SCAN_FRAMES / longest)

    def plan_prompt(self, asked: Asked, fields: Mapping[str, Any]) -> tuple[list[Message], Mapping[int, UUID]]:
        task = {"missing": fields["missing"], "least_fps": f"{self.least_fps:.2g}"}
        return self._prompt(asked, "scan_plan", task, PLAN_TOKENS), self.toolbox.videos

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
                extents=extents_in_words(self.toolbox),
                conversation=self.toolbox.history,
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
        question, several = asked.question, self.toolbox.several
        return load("scan_rules", question.profile).substitute(
            looks=self.looks,
            frames=min(SCAN_FRAMES, needed_checker(asked.models).max_frames),
            video="\n- video: its number in the list" if several else "",
            example=', "video": 1' if several else "",
            abstain=abstain_rule(question.choices, abstain=True),
            words=asked.settings.prompt.reasoning_words,
            answer_form=answer_form(question.choices, abstain=True, language=asked.answer_language),
        )

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
        return self.toolbox.load(frame.event_id for frame in frames)

    def found(self, asked: Asked, findings: Sequence[Finding]) -> None:
        """Take in what a look found: its events are shown from now on, before all others."""
        self.findings += findings
        events = self.toolbox.load(frame.event_id for finding in findings for frame in finding.frames)
        for event in events:
            self.toolbox.evidence.label_event(event)
        for finding in findings:
            for frame in finding.frames:
                self.toolbox.evidence.label_frame(frame)
        self.toolbox.evidence.add_findings(findings)
        known = {event.id: event for event in (*events, *self.events)}
        self.events, self.ranking = tuple(known.values()), tuple(known)
