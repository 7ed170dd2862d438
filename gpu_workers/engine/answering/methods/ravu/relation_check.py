"""Relations that a model wrote when the video was indexed, checked against the frames before a program uses them.

The digest of RAVU blames relations that no frame shows for its gap to graphs that people annotated (section 5.4).
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_workers.engine.answering.looking.inspection import observe
from gpu_workers.engine.answering.looking.looks import Look
from gpu_workers.engine.answering.methods.ravu.values import Run
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ports import TimedRelation

MOST_CHECKED = 4
"""Maximum number of looks at relations in one step: a question has eight calls."""

FRAMES_OF_RELATION = 4
"""Maximum number of frames of a relation's event that one look shows."""


def seen_relations(run: Run, stated: Sequence[TimedRelation]) -> list[TimedRelation]:
    """Return the relations without those that the frames of their event contradict, by one look for each.

    A relation that nothing supports and nothing contradicts stays, and the run notes how many were not seen: a written
    relation may be about a moment between two frames. Without eyes, all stay.
    """
    checker = run.toolbox.asked.models.checker
    if not run.checks_relations or checker is None or not checker.sees:
        return list(stated)
    kept: list[TimedRelation] = []
    unseen = refuted = 0
    for number, relation in enumerate(stated):
        bearings = _bearings(run, relation) if number < MOST_CHECKED else set[str]()
        if "contradicts" in bearings and "supports" not in bearings:
            refuted += 1
            continue
        unseen += "supports" not in bearings
        kept.append(relation)
    if refuted:
        run.note(f"left out {refuted} of {len(stated)} written relations, which the frames contradict")
    if unseen:
        run.limit(f"{unseen} of {len(stated)} written relations were not seen in frames")
    return kept


def _bearings(run: Run, relation: TimedRelation) -> set[str]:
    """Return what one look at the relation's event says of it; nothing if there is no frame or no call left."""
    toolbox, place = run.toolbox, relation.place
    frames = run.graph.frames_of([place.event_id], limit=FRAMES_OF_RELATION)
    if not frames or not run.take_call():
        return set()
    words = as_data(f"{relation.source} {relation.predicate} {relation.target}")
    look = Look(place.video_id, place.span, f"what shows whether this is so: {words}", 1.0)
    (report,) = observe(
        toolbox.asked,
        toolbox.calls,
        [(look, sorted(frames, key=lambda frame: frame.ms))],
        toolbox.load([place.event_id]),
        hypothesis=words,
        known=(),
        meter=toolbox.meter,
    )
    if report.halt is not None:
        run.limit(f"relations not checked: {toolbox.record_failure(report.halt)}")
    return {finding.bearing for finding in report.findings}
