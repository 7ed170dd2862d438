"""The tools of VideoAgent with memory (arXiv 2403.11481): find segments, ask the frames around one, ask the objects.

A segment is a chunk of 3 s and goes by its time, since a number would mean nothing in a scope of several videos.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.agent.loop import LOOP_PROMPTS, LoopEnd, run_loop
from gpu_workers.engine.answering.agent.tools.contract import (
    NOT_AVAILABLE,
    NOTHING_FOUND,
    OUT_OF_RANGE,
    Millis,
    Observation,
    Text,
    Tool,
    VideoNumber,
    failed,
)
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.agent.tools.looking import extents_in_words, inspect_ranges
from gpu_workers.engine.answering.agent.tools.object_sql import OBJECT_SQL
from gpu_workers.engine.answering.agent.tools.object_tables import MAX_OBJECTS
from gpu_workers.engine.answering.agent.tools.object_words import categories_there
from gpu_workers.engine.answering.agent.tools.objects import OBJECT_LOOKUP
from gpu_workers.engine.answering.agent.tools.searching import clips_like
from gpu_workers.engine.answering.identity import OBSERVE_PROMPTS
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.answering.words import content_words
from gpu_workers.engine.ekg import CHUNK_MS, Chunk, Span
from gpu_workers.engine.models.roles import embed_queries
from gpu_workers.engine.ports import Hit, StoredEvent, ViewQuery
from gpu_workers.engine.prompts import load

SEGMENTS = 5
"""Number of segments that a localisation returns (section 3.2)."""

VIDEO_WEIGHT, CAPTION_WEIGHT = 18, 11
"""Weights of the similarity to a segment's pictures and to its caption in the authors' code."""

RANKED_EVENTS, RANKED_FRAMES = 64, 512
"""Number of events and frames that the weighted ranking compares."""

FRAMES = 10
"""Maximum number of frames of one question about a segment (section 3.1)."""

MEMORY_PROMPTS = frozenset({"mem_objects_rules"}) | LOOP_PROMPTS | OBSERVE_PROMPTS
CITED = 8
"""Maximum number of events that the object agent's answer names."""


# --- segment_localization --------------------------------------------------------------------------------------------


def show_segments(desk: Desk, query: str) -> Observation:
    """Return the SEGMENTS events that fit a description best, each with its best chunk. Raises ModelError."""
    weighted = desk.asked.settings.effort == "paper"
    events = _by_weights(desk, query) if weighted else clips_like(desk, query, SEGMENTS)
    if not events:
        return Observation("No segment is like that. Use other words.", NOTHING_FOUND)
    room = desk.observation_tokens // (2 * len(events))
    lines: list[str] = []
    for event in events:
        lines.append(desk.event_line(event, most_tokens=room))
        chunk = _best_chunk(event, query)
        if chunk is not None and len(event.chunks) > 1:
            lines.append(f"  best segment: {desk.place(event.video_id, chunk.span)}, from {chunk.span.start_ms} ms")
    return Observation("\n".join(lines), events=tuple(event.id for event in events))


def _by_weights(desk: Desk, query: str) -> list[StoredEvent]:
    """Return the events of the highest 18 * cosine of their best frame + 11 * cosine of their text, in order of time.
    An event that only one view compared has the other view's lowest cosine."""
    models, meter = desk.asked.models, desk.meter
    hits = desk.asked.graph.search_views(
        {
            "event": ViewQuery(embed_queries(models.text_embedder, [query], meter=meter)[0], RANKED_EVENTS),
            "frame": ViewQuery(models.frame_embedder.embed_query(query, meter=meter), RANKED_FRAMES),
        },
        floor=-1.0,
    )
    captions, pictures = _best_by_event(hits["event"]), _best_by_event(hits["frame"])
    desk.matched([*captions.values(), *pictures.values()])
    scores = {
        event_id: VIDEO_WEIGHT * pictures.get(event_id, min(pictures.values(), default=0.0))
        + CAPTION_WEIGHT * captions.get(event_id, min(captions.values(), default=0.0))
        for event_id in captions.keys() | pictures.keys()
    }
    best = sorted(scores, key=lambda event_id: (-scores[event_id], event_id))[:SEGMENTS]
    return sorted(desk.load(best), key=lambda event: (event.video_id, event.span, event.id))


def _best_by_event(hits: Sequence[Hit]) -> dict[UUID, float]:
    best: dict[UUID, float] = {}
    for hit in hits:
        best[hit.event_id] = max(best.get(hit.event_id, -1.0), hit.similarity)
    return best


def _best_chunk(event: StoredEvent, query: str) -> Chunk | None:
    """Return the chunk that shares most words with query, the earliest of equals; None if none shares a word."""
    wanted = content_words(query)
    shared = [
        (len(wanted & content_words(" ".join([chunk.description or "", *(line.text for line in chunk.transcript)]))))
        for chunk in event.chunks
    ]
    return event.chunks[shared.index(max(shared))] if any(shared) else None


SEGMENT_LOCALIZATION = Tool(
    "segment_localization",
    f"Finds the {SEGMENTS} segments that fit a description best.",
    {"description": Text()},
    frozenset({"events"}),
    6,
    lambda desk, arguments: show_segments(desk, arguments["description"]),
)


# --- visual_question_answering ---------------------------------------------------------------------------------------


def _ask_frames(desk: Desk, arguments: Mapping[str, Any]) -> Observation:
    number, at_ms = arguments["video"], arguments["at_ms"]
    video = desk.video(number)
    if video is None or not desk.extents[video].contains(at_ms):
        return Observation(f"There is nothing at that time. {extents_in_words(desk)}", OUT_OF_RANGE)
    start_ms = at_ms // CHUNK_MS * CHUNK_MS
    around = Span(max(0, start_ms - CHUNK_MS), start_ms + 2 * CHUNK_MS)
    question = f"Describe what happens, then answer: {arguments['question']}"
    return inspect_ranges(desk, question, [(number, around)], fps=2.0, high=False, most_frames=FRAMES)


VISUAL_QUESTION_ANSWERING = Tool(
    "visual_question_answering",
    "Looks at the frames of the segment at a time, and of the segments before and after it, for a question.",
    {"question": Text(), "video": VideoNumber(), "at_ms": Millis()},
    frozenset({"frames", "checker"}),
    6,
    _ask_frames,
)


# --- object_memory_querying ------------------------------------------------------------------------------------------


def object_memory_querying(steps: int) -> Tool:
    """Return the tool that asks an agent with the tools of the object memory. steps: of its loop."""
    return Tool(
        "object_memory_querying",
        "Asks the memory of tracked people, animals, vehicles and things: how many there are, when each is seen, which "
        "appear together.",
        {"question": Text()},
        frozenset({"objects"}),
        4,
        lambda desk, arguments: ask_objects(desk, arguments["question"], steps=steps),
    )


def ask_objects(desk: Desk, question: str, *, steps: int) -> Observation:
    """Let an inner agent answer a question about objects in at most `steps` steps. Raises Halt."""
    seen = _Seen.of(desk)
    inner = desk.asking(question)
    there = categories_there(desk.asked.graph.objects(limit=MAX_OBJECTS))
    end = run_loop(
        inner,
        (OBJECT_SQL, OBJECT_LOOKUP),
        rules=load("mem_objects_rules", desk.asked.question.profile).template,
        opening=f"Tracked: <objects>{as_data(there)}</objects>",
        steps=steps,
        stage="object_step",
        path=desk.path,
        least_evidence=False,
    )
    if end.halt is not None:
        raise end.halt
    return _answered(desk, question, end, _Seen.of(desk).without(seen))


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was seen up to a moment, by id."""

    events: tuple[UUID, ...]
    objects: tuple[UUID, ...]

    @classmethod
    def of(cls, desk: Desk) -> _Seen:
        return cls(tuple(desk.sightings.numbers), tuple(desk.sightings.object_numbers))

    def without(self, earlier: _Seen) -> _Seen:
        return _Seen(
            tuple(event_id for event_id in self.events if event_id not in earlier.events),
            tuple(object_id for object_id in self.objects if object_id not in earlier.objects),
        )


def _answered(desk: Desk, question: str, end: LoopEnd, fresh: _Seen) -> Observation:
    """Return the agent's answer with the events that it rests on, or with what it saw if it gives none."""
    sightings, proposed = desk.sightings, end.proposed
    if proposed is None and end.forced == "budget" and not fresh.objects:
        return Observation("The budget does not hold a question to the object memory.", NOT_AVAILABLE)
    if proposed is None and not fresh.objects:
        return failed(end.error.code) if end.error else Observation("The object memory says nothing.", NOTHING_FOUND)
    decided = proposed is not None and proposed.sufficient
    text = as_data(proposed.text) if proposed is not None and decided else "The object memory does not decide this."
    if decided:
        sightings.noted(f"Asked of the object memory: {question} It says: {text}")
    cited = [sightings.events[number] for number in (proposed.cited if proposed else ())]
    events = cited or [event for event in sightings.events.values() if event.id in fresh.events]
    places = [f"{sightings.name_of(event.id)} {desk.place(event.video_id, event.span)}" for event in events[:CITED]]
    things = [thing for thing in sightings.objects.values() if thing.id in fresh.objects]
    objects = [f"{sightings.object(thing)} {as_data(f'{thing.colour} {thing.category}'.strip())}" for thing in things]
    lines = [text, f"Events: {', '.join(places) or 'none'}", f"Objects: {', '.join(objects[:20]) or 'none new'}"]
    return Observation(
        "\n".join(lines),
        cut=len(events) > CITED or len(objects) > 20,
        events=tuple(event.id for event in events[:CITED]),
        objects=fresh.objects[:20],
    )
