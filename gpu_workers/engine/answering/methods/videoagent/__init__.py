"""`videoagent`: a first glance, then predict, reflect, find and retrieve, round by round (VideoAgent, ECCV 2024, arXiv
2403.10517).

The last prediction is the answer: it is drawn like any other answer here, in votes over everything seen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpu_workers.engine.answering.agent.evidence_answer import (
    MethodResult,
    answer_from_evidence,
    weighs_choices,
)
from gpu_workers.engine.answering.agent.step_records import RecordedStep, StepRecorder
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls, count_prompt
from gpu_workers.engine.answering.catalogue import CATALOGUE, VIDEOAGENT, VideoAgentSettings
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.contract import Answer, Artifact
from gpu_workers.engine.answering.looking.looks import FIND_CHARACTERS
from gpu_workers.engine.answering.methods.method import CataloguedMethod, report_partial
from gpu_workers.engine.answering.methods.videoagent.moments import (
    CAPTION_FIND,
    SeenMoment,
    Segments,
    find_moment,
    glance,
    label_moments,
    look_closer,
    moment_at,
    moment_lines,
    see,
    segments_between,
)
from gpu_workers.engine.answering.presets import changed, own_settings
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
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.models.served.structured import list_of, object_of, read_object, storable
from gpu_workers.engine.prompts import load
from gpu_workers.engine.retrieval.fusion import RankedEvent

STEPS_OF_ROUND = 4

SUFFICIENT = 3
"""Confidence that ends the search; 2 is partial information, 1 is too little."""

UNSURE = 1
"""Confidence of a reflection that cannot be read."""

DESCRIPTION_CHARACTERS = 300
REFLECT_TOKENS, FIND_TOKENS = 300, 400

_LEVEL = re.compile(r"\s*([1-3])(\.0)?\b(?!\s*[./]\s*\d)")


class VideoAgent(CataloguedMethod, card=CATALOGUE["videoagent"]):
    def answer(self, asked: Asked, calls: Calls) -> Answer:
        settings = own_settings(asked.settings, VIDEOAGENT)
        if asked.settings.effort == "paper":
            # One greedy prediction a round, which must commit.
            asked = replace(asked, settings=changed(asked.settings, n=1, abstain=False))
        toolbox = Toolbox(asked, calls)
        recorder = StepRecorder(toolbox, total=1 + STEPS_OF_ROUND * settings.rounds)
        rounds = _WatchRounds(toolbox, settings, recorder)
        with recorder.course(), calls.timed("search"):
            rounds.run()
        needs: frozenset[Artifact] = self.needs | {"checker"} if settings.observes else self.needs
        result = MethodResult(needs, recorder.records, node=rounds.best, settled=rounds.settled, error=recorder.error)
        return answer_from_evidence(toolbox, result)


class _WatchRounds:
    """The rounds of one question. seen: moments in the order in which they were seen. best: the last prediction that
    can be read. settled: whether it was made over all that was seen, as the answer: it was judged sufficient, or
    nothing more was to be seen after it."""

    def __init__(self, toolbox: Toolbox, settings: VideoAgentSettings, recorder: StepRecorder) -> None:
        self.toolbox, self.settings, self.recorder = toolbox, settings, recorder
        self.seen: list[SeenMoment] = []
        self.best: AnswerNode | None = None
        self.settled = False

    def run(self) -> None:
        """Glance, then go through rounds until the reflection is sure, the rounds are over, or nothing new is seen."""
        _record_match(self.toolbox)
        self._glance()
        if not self.seen:
            return
        for k in range(1, self.settings.rounds + 1):
            last = k == self.settings.rounds
            dialogue = Dialogue(self.toolbox, self.seen, commits=not last)
            node = self._predict(dialogue, k)
            read = bool(node.votes)
            self.settled = last and read
            if self.toolbox.calls.halted or node.draw.error not in ("", "unreadable"):
                return
            # Without a prediction there is nothing to reflect on.
            confidence = self._reflect(dialogue) if read and (not last or self.settings.reflects_last) else UNSURE
            if confidence >= SUFFICIENT or last:
                self.settled = read
                return
            segments = segments_between(self.toolbox.extents, [item.moment for item in self.seen])
            wanted = self._find(dialogue, segments)
            if not wanted or not self._retrieve(segments, wanted):
                return

    def _glance(self) -> None:
        extents = self.toolbox.extents
        total_ms = sum(span.duration_ms for span in extents.values())
        with self.recorder.step("glance", frames=self.settings.first_frames) as step:
            positions = glance(total_ms, self.settings.first_frames, ends=self.settings.ends)
            self._take(see(self.toolbox, [moment_at(extents, position) for position in positions]), step)

    def _predict(self, dialogue: Dialogue, number: int) -> AnswerNode:
        with self.recorder.step("predict") as step:
            step.node = node = dialogue.predict()
        if node.votes or self.best is None:
            self.best = node
        report_partial(self.toolbox.calls, node, level=number)
        return node

    def _reflect(self, dialogue: Dialogue) -> int:
        with self.recorder.step("reflect") as step:
            step.observation = dialogue.reflect()
            confidence = read_confidence(step.observation)
            step.error = "" if confidence is not None else "unreadable"
            step.arguments = {"confidence": confidence or UNSURE}
        return confidence or UNSURE

    def _find(self, dialogue: Dialogue, segments: Segments) -> list[Wanted]:
        still_open = {number: parts for number, parts in segments.items() if parts}
        if not still_open:
            return []
        with self.recorder.step("find") as step:
            wanted = read_wanted(dialogue.find(still_open, self.settings.items), still_open, self.settings.items)
            step.error = "unreadable" if wanted is None else "" if wanted else "nothing_found"
            step.observation = "\n".join(f"segment {item.segment}: {item.description}" for item in wanted or ())
        return wanted or []

    def _retrieve(self, segments: Segments, wanted: list[Wanted]) -> bool:
        """See the best unseen moment for each thing that is wanted; return whether anything new was seen."""
        items = [{"segment": item.segment, "description": item.description} for item in wanted]
        with self.recorder.step("retrieve", items=items) as step:
            found: list[SeenMoment] = []
            descriptions = []
            for item in wanted:
                taken = [one.moment for one in (*self.seen, *found)]
                best = find_moment(self.toolbox, item.description, segments[item.segment], taken)
                if best is not None:
                    found.append(best)
                    descriptions.append(item.description)
            self._take(found, step, find=f"{CAPTION_FIND}, and whether it is this: {'; '.join(descriptions)}")
        return bool(found)

    def _take(self, new: list[SeenMoment], step: RecordedStep, *, find: str = CAPTION_FIND) -> None:
        """Number new moments, look at them if the effort asks for it, and add them to what was seen."""
        label_moments(self.toolbox, new)
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


# --- the three questions of a round ----------------------------------------------------------------------------------


class Dialogue:
    """The conversation of a round: predict, reflect, find (VideoAgent, sections 3.2 and 3.3). It only grows, so that a
    server with a prefix cache reads the moments once a round."""

    def __init__(self, toolbox: Toolbox, seen: Sequence[SeenMoment], *, commits: bool) -> None:
        """commits: whether the prediction must give an answer; else it may abstain if the settings let it."""
        settings = toolbox.asked.settings
        abstain = settings.samples.abstain and not commits
        # All samples in one request: a round has three calls.
        n = 1 if weighs_choices(toolbox.asked) else settings.samples.n
        asked = replace(toolbox.asked, settings=changed(settings, abstain=abstain, early_majority=False, n=n))
        question, reasoner = asked.question, asked.models.reasoner
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
        taken = count_prompt(reasoner.count_tokens, [rules, Message("user", (prompt.substitute(fields, events=""),))])
        # The prediction and what follows it have to fit as well.
        taken += settings.prompt.answer_tokens + REFLECT_TOKENS + 2 * FIND_TOKENS
        room = max(1, min(settings.prompt.context_tokens, reasoner.context_tokens - taken))
        shown = prompt.substitute(fields, events=moment_lines(toolbox, seen, most_tokens=room))
        self.toolbox, self.asked, self.seen = toolbox, asked, seen
        self.messages = [rules, Message("user", (shown,))]

    def predict(self) -> AnswerNode:
        """Return the prediction as a node with its votes; it cites events by their numbers. Raises nothing of a
        model."""
        asked, calls, path = self.asked, self.toolbox.calls, self.toolbox.path
        draw = draw_answers(asked, calls, self.messages, path=path, n=asked.settings.samples.n, stage="predict")
        if draw.halt:
            calls.halt(draw.halt)
        events = {item.event.id: item.event for item in self.seen}
        numbers = {event_id: self.toolbox.evidence.numbers[event_id] for event_id in events}
        context = EventContext("", numbers, {numbers[event_id]: event for event_id, event in events.items()})
        state = State(path, tuple(RankedEvent(event_id, 1.0 / len(events)) for event_id in events))
        frames = {item.event.id: item.frame for item in reversed(self.seen) if item.frame is not None}
        node = AnswerNode(path, state, context, draw, scored(asked, draw), seen=frames)
        if node.votes:
            self._add_reply(draw.texts[node.votes[0].representative])
        return node

    def reflect(self) -> str:
        """Return the reply about the confidence in the prediction. Raises Halt, ModelError."""
        words = self.asked.settings.prompt.reasoning_words
        prompt = load("watch_reflect", self.asked.question.profile).substitute(words=words)
        reply = self._ask("reflect", prompt, reflection_schema(), REFLECT_TOKENS)
        # What it says may repeat words of the video.
        self._add_reply(reply)
        return reply

    def find(self, segments: Segments, items: int) -> str:
        """Return the reply about what should be seen next in these segments. Raises Halt, ModelError."""
        across = any(len(parts) > 1 for parts in segments.values())
        prompt = load("watch_find", self.asked.question.profile).substitute(
            segments=self._segment_lines(segments),
            across="The videos follow one another. A segment that names several goes on from one to the next."
            if across
            else "",
            language=search_line(self.asked.question_language),
            items=items,
        )
        return self._ask("find", prompt, wanted_schema(list(segments), items), FIND_TOKENS)

    def _ask(self, stage: str, prompt: str, schema: dict[str, Any], max_tokens: int) -> str:
        self.messages.append(Message("user", (prompt,)))
        return self.toolbox.calls.ask(
            self.messages,
            stage=stage,
            meter=self.toolbox.meter,
            schema=schema,
            max_tokens=max_tokens,
            seed=self.asked.seed_of(self.toolbox.path),
        )[0].text

    def _add_reply(self, text: str) -> None:
        self.messages.append(Message("assistant", (without_tags(text)[:REPAIR_CHARACTERS] or "{}",)))

    def _segment_lines(self, segments: Segments) -> str:
        """Return a line per segment: its number, the moments at its ends, and its time in each video that it
        reaches."""
        evidence = self.toolbox.evidence
        names = [
            evidence.label_frame(item.frame) if item.frame is not None else evidence.label_event(item.event)
            for item in sorted(self.seen, key=lambda item: item.moment)
        ]
        lines = []
        for number, parts in segments.items():
            if number == 1:
                ends = f"before {names[0]}"
            elif number > len(names):
                ends = f"after {names[-1]}"
            else:
                ends = f"between {names[number - 2]} and {names[number - 1]}"
            places = [self.toolbox.place(part.video_id, part.span) for part in parts]
            if len(places) > 3:
                places = [places[0], f"{len(places) - 2} whole videos", places[-1]]
            lines.append(f"{number}. {ends}: {', then '.join(places)}")
        return "\n".join(lines)


def reflection_schema() -> dict[str, Any]:
    return object_of({"reasoning": {"type": "string"}, "confidence": {"type": "integer", "enum": [1, 2, SUFFICIENT]}})


def read_confidence(text: str) -> int | None:
    """Return 1, 2 or 3; None if the reflection does not say, or says something else."""
    match = _LEVEL.match(str((read_object(text) or {}).get("confidence")))
    return int(match[1]) if match else None


@dataclass(frozen=True, slots=True)
class Wanted:
    """One thing to look for. segment: the number of the segment in which to look."""

    segment: int
    description: str


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
    numbers = {str(number): number for number in segments}
    wanted: dict[Wanted, None] = {}
    for item in items:
        number = numbers.get(str(item.get("segment")).strip()) if isinstance(item, dict) else None
        description = item.get("description") if number else None
        words = as_data(storable(description))[:DESCRIPTION_CHARACTERS] if isinstance(description, str) else ""
        if number and words:
            wanted[Wanted(number, words)] = None
    return list(wanted)[:most]
