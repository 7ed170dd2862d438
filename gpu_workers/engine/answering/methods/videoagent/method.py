"""`videoagent`: a first glance, then predict, reflect, find and retrieve, round by round (VideoAgent, ECCV 2024, arXiv
2403.10517).

The last prediction is the answer: it is drawn like any other answer here, in votes over everything seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gpu_workers.engine.answering.agent.closing import close, match_question
from gpu_workers.engine.answering.agent.dossier import DOSSIER_PROMPTS
from gpu_workers.engine.answering.agent.tools.contract import Artifact
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.agent.trail import Step, Trail
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer, PartialAnswer
from gpu_workers.engine.answering.identity import OBSERVE_PROMPTS, QUESTION_PROMPTS
from gpu_workers.engine.answering.looking.looks import FIND_CHARACTERS
from gpu_workers.engine.answering.method_settings import VIDEOAGENT, VideoAgentSettings
from gpu_workers.engine.answering.methods.contract import TypicalCalls
from gpu_workers.engine.answering.methods.videoagent.finding import find
from gpu_workers.engine.answering.methods.videoagent.replies import SUFFICIENT, UNSURE, Wanted
from gpu_workers.engine.answering.methods.videoagent.round import (
    WATCH_PROMPTS,
    Talk,
    ask_missing,
    begin,
    predict,
    reflect,
)
from gpu_workers.engine.answering.methods.videoagent.seeing import CAPTION_FIND, Seen, lines, look_closer, number, see
from gpu_workers.engine.answering.methods.videoagent.segments import Segment, segments_between
from gpu_workers.engine.answering.methods.videoagent.timeline import Timeline, glance
from gpu_workers.engine.answering.presets import changed
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.models.roles import ModelError

STEPS_OF_ROUND = 4


class VideoAgent:
    name = "videoagent"
    version = "3"
    description = "Glances at a few frames, answers, doubts the answer, and looks for what is missing in between."
    needs: frozenset[Artifact] = frozenset({"events", "frames"})
    typical_calls: TypicalCalls = {"low": (2, 5), "medium": (2, 8), "high": (4, 19), "paper": (2, 7)}
    prompts = QUESTION_PROMPTS | WATCH_PROMPTS | OBSERVE_PROMPTS | DOSSIER_PROMPTS

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        settings = VIDEOAGENT[asked.settings.effort]
        if asked.settings.effort == "paper":
            asked = _as_published(asked)
        desk = Desk(asked, calls)
        watching = _Watching(desk, settings, Trail(desk, total=1 + STEPS_OF_ROUND * settings.rounds))
        error: ModelError | None = None
        try:
            with calls.timed("search"):
                watching.run()
        except Halt as halt:
            calls.halt(halt)
        except ModelError as failure:
            error = failure
        return close(
            desk,
            watching.best,
            settled=watching.settled,
            records=watching.trail.records,
            top_similarity=desk.top_similarity,
            needs=self.needs | (frozenset({"checker"}) if settings.observes else frozenset()),
            error=error,
        )


@dataclass(slots=True)
class _Watching:
    """The state of the search. seen: moments in the order in which they were seen. best: the last prediction that can
    be read. settled: whether it was made over all that was seen, as the answer: it was judged sufficient, or nothing
    more was to be seen after it."""

    desk: Desk
    settings: VideoAgentSettings
    trail: Trail
    seen: list[Seen] = field(default_factory=list)
    best: AnswerNode | None = None
    settled: bool = False

    def run(self) -> None:
        """Glance, then go through rounds until the reflection is sure, the rounds are over, or nothing new is seen."""
        timeline = Timeline.of(self.desk.extents)
        match_question(self.desk)
        self._glance(timeline)
        if not self.seen:
            return
        for k in range(1, self.settings.rounds + 1):
            last = k == self.settings.rounds
            talk = begin(self.desk, self.seen, commits=not last)
            node = self._predict(talk, k)
            read = bool(node.votes)
            self.settled = last and read
            if self.desk.calls.halted or node.draw.error not in ("", "unreadable"):
                return
            # Without a prediction there is nothing to reflect on.
            confidence = self._reflect(talk) if read and (not last or self.settings.reflects_last) else UNSURE
            if confidence >= SUFFICIENT or last:
                self.settled = read
                return
            segments = segments_between(timeline, [item.moment for item in self.seen])
            wanted = self._find(talk, segments)
            if not wanted or not self._retrieve(segments, wanted):
                return

    def _glance(self, timeline: Timeline) -> None:
        positions = glance(timeline.total_ms, self.settings.first_frames, ends=self.settings.ends)
        with self.trail.step("glance", frames=self.settings.first_frames) as step:
            moments = [timeline.moment(position) for position in positions]
            self._take(see(self.desk, moments, brief=self._brief), step)

    def _predict(self, talk: Talk, round_number: int) -> AnswerNode:
        with self.trail.step("predict") as step:
            node = predict(self.desk, talk, self.seen, step.path)
            step.node = node
        if node.votes:
            self.best = node
            if node.answer is not None and node.answers:
                answer = node.answer
                self.desk.calls.on_partial(
                    PartialAnswer(answer.text, answer.choice, node.score, node.path, round_number)
                )
        elif self.best is None:
            self.best = node
        return node

    def _reflect(self, talk: Talk) -> int:
        with self.trail.step("reflect") as step:
            confidence, step.observation = reflect(self.desk, talk, step.path)
            step.error = "" if confidence is not None else "unreadable"
            step.arguments = {"confidence": confidence if confidence is not None else UNSURE}
        return confidence if confidence is not None else UNSURE

    def _find(self, talk: Talk, segments: list[Segment]) -> list[Wanted]:
        if not any(segment.parts for segment in segments):
            return []
        with self.trail.step("find") as step:
            wanted = ask_missing(self.desk, talk, self.seen, segments, items=self.settings.items, path=step.path)
            step.error = "unreadable" if wanted is None else "" if wanted else "nothing_found"
            step.observation = "\n".join(f"segment {item.segment}: {item.description}" for item in wanted or ())
        return wanted or []

    def _retrieve(self, segments: list[Segment], wanted: list[Wanted]) -> bool:
        """See what is wanted; return whether anything new was seen."""
        items = [{"segment": item.segment, "description": item.description} for item in wanted]
        with self.trail.step("retrieve", items=items) as step:
            by_number = {segment.number: segment for segment in segments}
            found = find(self.desk, by_number, wanted, [item.moment for item in self.seen], brief=self._brief)
            self.desk.matched(item.similarity for item in found)
            wishes = "; ".join(item.wanted.description for item in found)
            self._take([item.seen for item in found], step, find=f"{CAPTION_FIND}, and whether it is this: {wishes}")
        return bool(found)

    def _take(self, new: list[Seen], step: Step, *, find: str = CAPTION_FIND) -> None:
        """Number new moments, look at them if the effort asks for it, and add them to what was seen."""
        number(self.desk, sorted(new, key=lambda item: item.moment))
        step.events = [item.event for item in new]
        step.frames = sum(item.frame is not None for item in new)
        step.error = "" if new else "nothing_found"
        if self.settings.observes and "checker" in self.desk.artifacts and step.frames:
            new, step.error = look_closer(self.desk, new, find[:FIND_CHARACTERS])
        self.seen += new
        step.observation = lines(self.desk, new, most_tokens=self.desk.observation_tokens)

    @property
    def _brief(self) -> bool:
        return self.desk.asked.settings.effort == "paper"


def _as_published(asked: Asked) -> Asked:
    """Return asked with one greedy prediction a round that must commit."""
    return replace(asked, settings=changed(asked.settings, n=1, abstain=False))
