"""Route `whole`: what a stretch is about, its topics, steps and changes, read from the overview down to the events.

A reasoner with a window for it writes the answer from the parts, and every part that it leaves out is added. A small
one is not asked: the answer is put together from the titles. Either way each statement is checked against events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from gpu_workers.engine.answering.agent.evidence_answer import MethodResult, answer_from_evidence
from gpu_workers.engine.answering.agent.step_records import StepRecorder
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.routes.grounds import Checking
from gpu_workers.engine.answering.routes.items import Item, part_line, with_missing, written_items
from gpu_workers.engine.answering.routes.parts import Contents, Part, bounded
from gpu_workers.engine.answering.routes.result import RouteResult, answered
from gpu_workers.engine.answering.routes.stretches import read_contents
from gpu_workers.engine.answering.routes.whole_text import WholeText
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.languages.codes import ENGLISH
from gpu_workers.engine.languages.words import stemmed, words_of


def answer_by_reading(asked: Asked, calls: Calls) -> Answer | None:
    """Return an answer from all that the scope holds. None if it holds no event that could be described."""
    toolbox = Toolbox(asked, calls)
    if not toolbox.extents:
        return None
    small = asked.models.calibration.small
    recorder = StepRecorder(toolbox, total=2)
    with calls.timed("whole"):
        with recorder.step("read", shape=asked.understood.shape) as step:
            contents = read_contents(toolbox, small=small)
            chosen, notes = _on_topic(toolbox, contents.parts)
            complete = len(chosen) == len(contents.parts)
            parts = bounded(chosen, contents.about if complete else {})
            step.observation = "\n".join(part_line(toolbox, part) for part in parts)
            checking = Checking(toolbox, parts)
            step.events = checking.events
        if contents.halted is not None:
            calls.halt(contents.halted)
        if not parts:
            return None
        if asked.question.choices:
            return _chosen(toolbox, contents, parts, checking, recorder)
        # Parts for whole videos hold the overviews already.
        about = contents.about if complete and not any(part.video for part in parts) else {}
        written: Sequence[Item] = ()
        if not small and calls.halted is None and asked.understood.shape != "count":
            with recorder.step("compose", shape=asked.understood.shape) as step:
                composed = written_items(toolbox, parts, about)
                written = composed.items
                step.observation = "\n".join(item.text for item in written)
            if written and composed.shown < len(parts):
                notes.append(f"{composed.shown} of {len(parts)} parts were read together")
        checked, changes = checking.corrected(checking.check(written))
        held = [one for one in checked if one.holds]
        # A question about a part of the whole is answered by what was written about it.
        wanted = parts if complete or not held else ()
        items, more = with_missing(toolbox, [one.item for one in held], wanted)
        known = {id(one.item): one for one in held}
        titles = iter(checking.check([item for item in items if id(item) not in known]))
        every = [known.get(id(item)) or next(titles) for item in items]
        lost = [one for one in checked if not one.holds]
        citations, claims = checking.evidence([*every, *lost])
    whole = WholeText(toolbox, about, items, more, number=len(chosen))
    return answered(
        toolbox,
        RouteResult(
            whole.text(),
            head="whole",
            records=recorder.records,
            notes=[*_read(contents), *notes, *changes],
            degraded=() if contents.topics else ("no_summary",),
            shares={"read": round(min(1.0, contents.read / contents.total), 4) if contents.total else 0.0},
            parts=whole.parts(),
            columns=whole.columns,
        ),
        citations,
        claims,
    )


def _read(contents: Contents) -> list[str]:
    notes = [f"read from {contents.topics} topics and {contents.read} of {contents.total} events"]
    if contents.lost:
        lost = clock(contents.lost_ms, hours=True)
        notes.append(f"{lost} in {contents.lost} of {contents.total} events could not be described")
    return notes


def _on_topic(toolbox: Toolbox, parts: Sequence[Part]) -> tuple[list[Part], list[str]]:
    """Return the parts about the topic to which the question is narrowed, and notes; all parts if it is narrowed to
    none, or if no part has its words."""
    topic = frozenset(toolbox.asked.understood.topic)
    near = [part for part in parts if topic & _stems_of(part)]
    if not near or len(near) == len(parts):
        return list(parts), []
    return near, [f"{len(near)} of {len(parts)} topics name what the question is about; the others are left out"]


def _stems_of(part: Part) -> frozenset[str]:
    return frozenset(stemmed(words_of(" ".join((part.title, part.text, *part.places))), ENGLISH))


def _chosen(
    toolbox: Toolbox, contents: Contents, parts: Sequence[Part], checking: Checking, recorder: StepRecorder
) -> Answer:
    """Return the choice that the parts support, drawn like any method's from what was shown."""
    about: Mapping[UUID, str] = contents.about
    for text in about.values():
        toolbox.evidence.add_note(text)
    for part in parts:
        toolbox.evidence.add_note(part_line(toolbox, part))
    for event in checking.events:
        toolbox.evidence.label_event(event)
    return answer_from_evidence(toolbox, MethodResult(frozenset({"topics"}), recorder.records))
