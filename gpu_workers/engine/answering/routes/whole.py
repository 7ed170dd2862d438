"""Route `whole`: what a stretch is about, its topics, steps and changes, read from the overview down to the events.

A reasoner with a window for it writes the answer from the parts, and every part that it leaves out is added. A small
one is not asked: the answer is put together from the titles. Either way each statement is checked against events.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_workers.engine.answering.agent.evidence_answer import MethodResult, answer_from_evidence
from gpu_workers.engine.answering.agent.step_records import StepRecorder
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer, AnswerPart
from gpu_workers.engine.answering.routes.items import (
    Item,
    checked_items,
    corrected_items,
    evidence_of,
    overviews,
    part_line,
    with_missing,
    written_items,
)
from gpu_workers.engine.answering.routes.parts import Contents, Part, bounded, read_contents
from gpu_workers.engine.answering.routes.phrases import phrases_of
from gpu_workers.engine.answering.routes.result import RouteResult, answered, moment_in_words
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.languages.codes import ENGLISH
from gpu_workers.engine.languages.words import stemmed, words_of


def answer_by_reading(asked: Asked, calls: Calls) -> Answer | None:
    """Return an answer from all that the scope holds. None if it holds no event that could be described."""
    toolbox, shape, small = Toolbox(asked, calls), asked.understood.shape, asked.models.calibration.small
    if not toolbox.extents:
        return None
    recorder = StepRecorder(toolbox, total=2)
    with calls.timed("whole"):
        with recorder.step("read", shape=shape) as step:
            contents = read_contents(toolbox, small=small)
            chosen, notes = _on_topic(toolbox, contents.parts)
            complete = len(chosen) == len(contents.parts)
            parts = bounded(chosen, contents.about if complete else {})
            step.observation = "\n".join(part_line(toolbox, part) for part in parts)
            step.events = toolbox.load(event_id for part in parts for event_id in part.events[:1])
            firsts = step.events
        if not parts:
            return None
        if asked.question.choices:
            for note in (*contents.about.values(), *(part_line(toolbox, part) for part in parts)):
                toolbox.evidence.add_note(note)
            for event in firsts:
                toolbox.evidence.label_event(event)
            return answer_from_evidence(toolbox, MethodResult(frozenset({"topics"}), recorder.records))
        # Parts for whole videos hold the overviews already.
        about = overviews(toolbox, contents.about) if complete and not any(part.video for part in parts) else []
        written: list[Item] = []
        if not small and calls.halted is None and shape != "count":
            with recorder.step("compose", shape=shape) as step:
                written, read = written_items(toolbox, parts, about)
                step.observation = "\n".join(item.text for item in written)
            if written and read < len(parts):
                notes.append(f"{read} of {len(parts)} parts were read together")
        written, changes = corrected_items(toolbox, checked_items(toolbox, written))
        held = [item for item in written if not item.contradicted]
        # A question about a part of the whole is answered by what was written about it.
        items, more = with_missing(toolbox, held, parts if complete or not held else ())
        items = checked_items(toolbox, items)
        citations, claims = evidence_of(toolbox, [*items, *(item for item in written if item.contradicted)])
    left = [phrases_of(asked)("more", n=more)] if more else []
    result = RouteResult(
        _text(toolbox, items, about, left, topics=len(chosen)),
        "whole",
        recorder.records,
        notes=[*_read(contents), *notes, *changes],
        degraded=() if contents.topics else ("no_summary",),
        shares={"read": round(min(1.0, contents.read / contents.total), 4) if contents.total else 0.0},
        parts=[AnswerPart(item.text, n, _row(toolbox, item) if shape == "table" else ())
               for n, item in enumerate(items)],
        columns=_columns(asked) if shape == "table" else (),
    )  # fmt: skip
    return answered(toolbox, result, citations, claims)


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
    words = [words_of(" ".join((part.title, part.text, *part.places))) for part in parts]
    near = [part for part, own in zip(parts, words, strict=True) if topic & set(stemmed(own, ENGLISH))]
    if not near or len(near) == len(parts):
        return list(parts), []
    return near, [f"{len(near)} of {len(parts)} topics name what the question is about; the others are left out"]


# --- the text ------------------------------------------------------------------------------------------------------


def _text(toolbox: Toolbox, items: Sequence[Item], about: Sequence[str], more: Sequence[str], *, topics: int) -> str:
    """Return the items in the shape that was asked for. about: the overviews. more: what the items leave out, in words.
    topics: number of parts that were meant."""
    shape = toolbox.asked.understood.shape
    if shape == "table":
        rows = [_columns(toolbox.asked), ("---", "---"), *(_row(toolbox, item) for item in items)]
        return "\n".join([*(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows), *more])
    if shape in ("list", "steps"):
        marks = [f"{n}." if shape == "steps" else "-" for n in range(1, len(items) + 1)]
        return "\n".join([*(f"{mark} {_line(toolbox, item)}" for mark, item in zip(marks, items, strict=True)), *more])
    titles = [item for item in items if not item.written]
    if len(titles) < len(items):
        rest = "; ".join([*(item.text.rstrip(".") for item in titles), *more])
        return " ".join([*(_sentence(item.text) for item in items if item.written), *([f"{rest}."] if rest else [])])
    if any(part.video for item in titles for part in item.parts):
        named = [f"{toolbox.video_name(item.parts[0].video_id)}: {item.text}" for item in titles]
        return " ".join(map(_sentence, [*named, *more]))
    about = [] if shape == "count" else about
    if about and not more and all(item.text.rstrip(".") in " ".join(about) for item in titles):
        return " ".join(about)
    head = phrases_of(toolbox.asked)("topic" if topics == 1 else "topics", n=topics)
    return " ".join([*about, head, f"{'; '.join([*(_line(toolbox, item) for item in titles), *more])}."])


def _columns(asked: Asked) -> tuple[str, str]:
    phrases = phrases_of(asked)
    return phrases("when"), phrases("what")


def _row(toolbox: Toolbox, item: Item) -> tuple[str, str]:
    return moment_in_words(toolbox, item.parts[0].video_id, item.parts[0].span.start_ms), item.text


def _line(toolbox: Toolbox, item: Item) -> str:
    when, text = _row(toolbox, item)
    return f"{text.rstrip('.')} ({when})"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "。", "…")) else f"{text}."
