"""`videoagent`: a first glance, then predict, reflect, find and retrieve, round by round (VideoAgent, ECCV 2024, arXiv
2403.10517).

The last prediction is the answer: it is drawn like any other answer here, in votes over everything seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gpu_workers.engine.answering.agent.evidence_answer import MethodResult, answer_from_evidence
from gpu_workers.engine.answering.agent.step_records import RecordedStep, StepRecorder
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.catalogue import CATALOGUE, VIDEOAGENT, VideoAgentSettings
from gpu_workers.engine.answering.contract import Answer, Artifact, PartialAnswer
from gpu_workers.engine.answering.looking.looks import FIND_CHARACTERS
from gpu_workers.engine.answering.methods.method import CataloguedMethod
from gpu_workers.engine.answering.methods.videoagent.dialogue import (
    SUFFICIENT,
    UNSURE,
    Talk,
    ask_missing,
    begin,
    predict,
    reflect,
)
from gpu_workers.engine.answering.methods.videoagent.moments import (
    CAPTION_FIND,
    SeenMoment,
    Segment,
    Timeline,
    Wanted,
    find_wanted,
    glance,
    label_moments,
    look_closer,
    moment_lines,
    see,
    segments_between,
)
from gpu_workers.engine.answering.presets import changed
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.models.roles import ModelError

STEPS_OF_ROUND = 4


class VideoAgent(CataloguedMethod, card=CATALOGUE["videoagent"]):
    def answer(self, asked: Asked, calls: Calls) -> Answer:
        settings = VIDEOAGENT[asked.settings.effort]
        if asked.settings.effort == "paper":
            # One greedy prediction a round, which must commit.
            asked = replace(asked, settings=changed(asked.settings, n=1, abstain=False))
        toolbox = Toolbox(asked, calls)
        recorder = StepRecorder(toolbox, total=1 + STEPS_OF_ROUND * settings.rounds)
        watching = _Watching(toolbox, settings, recorder)
        with recorder.course(), calls.timed("search"):
            watching.run()
        needs: frozenset[Artifact] = self.needs | {"checker"} if settings.observes else self.needs
        best, settled = watching.best, watching.settled
        return answer_from_evidence(
            toolbox, MethodResult(needs, recorder.records, node=best, settled=settled, error=recorder.error)
        )


@dataclass(slots=True)
class _Watching:
    """The state of the search. seen: moments in the order in which they were seen. best: the last prediction that can
    be read. settled: whether it was made over all that was seen, as the answer: it was judged sufficient, or nothing
    more was to be seen after it."""

    toolbox: Toolbox
    settings: VideoAgentSettings
    recorder: StepRecorder
    seen: list[SeenMoment] = field(default_factory=list)
    best: AnswerNode | None = None
    settled: bool = False

    def run(self) -> None:
        """Glance, then go through rounds until the reflection is sure, the rounds are over, or nothing new is seen."""
        timeline = Timeline.of(self.toolbox.extents)
        _record_match(self.toolbox)
        self._glance(timeline)
        if not self.seen:
            return
        for k in range(1, self.settings.rounds + 1):
            last = k == self.settings.rounds
            talk = begin(self.toolbox, self.seen, commits=not last)
            node = self._predict(talk, k)
            read = bool(node.votes)
            self.settled = last and read
            if self.toolbox.calls.halted or node.draw.error not in ("", "unreadable"):
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
        with self.recorder.step("glance", frames=self.settings.first_frames) as step:
            moments = [timeline.moment(position) for position in positions]
            self._take(see(self.toolbox, moments), step)

    def _predict(self, talk: Talk, round_number: int) -> AnswerNode:
        with self.recorder.step("predict") as step:
            node = predict(self.toolbox, talk, self.seen, step.path)
            step.node = node
        if node.votes:
            self.best = node
            if node.answer is not None and node.answers:
                answer = node.answer
                self.toolbox.calls.on_partial(
                    PartialAnswer(answer.text, answer.choice, node.score, node.path, round_number)
                )
        elif self.best is None:
            self.best = node
        return node

    def _reflect(self, talk: Talk) -> int:
        with self.recorder.step("reflect") as step:
            confidence, step.observation = reflect(self.toolbox, talk, step.path)
            step.error = "" if confidence is not None else "unreadable"
            step.arguments = {"confidence": confidence if confidence is not None else UNSURE}
        return confidence if confidence is not None else UNSURE

    def _find(self, talk: Talk, segments: list[Segment]) -> list[Wanted]:
        if not any(segment.parts for segment in segments):
            return []
        with self.recorder.step("find") as step:
            wanted = ask_missing(self.toolbox, talk, self.seen, segments, items=self.settings.items, path=step.path)
            step.error = "unreadable" if wanted is None else "" if wanted else "nothing_found"
            step.observation = "\n".join(f"segment {item.segment}: {item.description}" for item in wanted or ())
        return wanted or []

    def _retrieve(self, segments: list[Segment], wanted: list[Wanted]) -> bool:
        """See what is wanted; return whether anything new was seen."""
        items = [{"segment": item.segment, "description": item.description} for item in wanted]
        with self.recorder.step("retrieve", items=items) as step:
            by_number = {segment.number: segment for segment in segments}
            found = find_wanted(self.toolbox, by_number, wanted, [item.moment for item in self.seen])
            self.toolbox.record_similarities(item.similarity for item in found)
            wishes = "; ".join(item.wanted.description for item in found)
            self._take([item.seen for item in found], step, find=f"{CAPTION_FIND}, and whether it is this: {wishes}")
        return bool(found)

    def _take(self, new: list[SeenMoment], step: RecordedStep, *, find: str = CAPTION_FIND) -> None:
        """Number new moments, look at them if the effort asks for it, and add them to what was seen."""
        label_moments(self.toolbox, sorted(new, key=lambda item: item.moment))
        step.events = [item.event for item in new]
        step.frames = sum(item.frame is not None for item in new)
        step.error = "" if new else "nothing_found"
        if self.settings.observes and "checker" in self.toolbox.artifacts and step.frames:
            new, step.error = look_closer(self.toolbox, new, find[:FIND_CHARACTERS])
        self.seen += new
        step.observation = moment_lines(self.toolbox, new, most_tokens=self.toolbox.observation_tokens)


def _record_match(toolbox: Toolbox) -> None:
    """Record the similarity of the question to the event and the frame nearest to it, if they can be embedded: what a
    confidence takes from retrieval, for a method that searches by other words."""
    text = toolbox.asked.searched
    try:
        hits = list(toolbox.search("event", toolbox.text_vector(text), 1))
        if "frames" in toolbox.artifacts:
            hits += toolbox.search("frame", toolbox.frame_vector(text), 1)
    except ModelError:
        return
    toolbox.record_similarities(hit.similarity for hit in hits)
