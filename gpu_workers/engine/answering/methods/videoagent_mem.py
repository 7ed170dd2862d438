"""`videoagent_mem`: an agent with a memory of moments and a memory of things (VideoAgent, BIGAI, arXiv 2403.11481).

Its four tools read the descriptions of a time range, find segments, look at the frames around one, and let an
inner agent ask the tracked and re-identified objects, by words or by SQL on a copy of them. Descriptions are read by
chunks of 3 s. The search ranks events, which chunks with one meaning were merged into: chunks with vectors of their own
find less (docs/lab/evaluation.md). Both go by their time, since a number would mean nothing in a scope of several
videos.

Ours shows the overview and the segments nearest to the question before the first step, which costs no call: the paper's
agent reads captions without knowing what the video is about, and a small reasoner that finishes at once has seen
nothing. It also searches and counts what is said. Preset `paper` gives the answer of the loop, with the paper's weights
and windows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.agent.caption_tools import TERM_FREQUENCY, TRANSCRIPT_SEARCH, caption_retrieval
from gpu_workers.engine.answering.agent.conversation import EVIDENCE
from gpu_workers.engine.answering.agent.evidence_answer import MethodResult, answer_from_evidence
from gpu_workers.engine.answering.agent.frame_tools import extents_in_words, inspect_ranges
from gpu_workers.engine.answering.agent.loop import LoopRequest, run_loop
from gpu_workers.engine.answering.agent.object_tools import MAX_OBJECTS, OBJECT_LOOKUP, OBJECT_SQL, object_name
from gpu_workers.engine.answering.agent.search_tools import clips_like, show_overview
from gpu_workers.engine.answering.agent.tool import (
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
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.catalogue import CATALOGUE, VIDEOAGENT_MEM
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.methods.method import CataloguedMethod
from gpu_workers.engine.answering.presets import own_settings
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import CHUNK_MS, Chunk, Span
from gpu_workers.engine.languages.words import content_words
from gpu_workers.engine.ports import Hit, StoredEvent
from gpu_workers.engine.prompts import load
from gpu_workers.engine.retrieval.object_names import categories_there

SEGMENTS = 5
"""Number of segments that a localisation returns (section 3.2)."""

VIDEO_WEIGHT, CAPTION_WEIGHT = 18, 11
"""Weights of the similarity to a segment's pictures and to its caption in the authors' code."""

RANKED_EVENTS, RANKED_FRAMES = 64, 512
"""Number of events and frames that the weighted ranking compares."""

FRAMES = 10
"""Maximum number of frames of one question about a segment (section 3.1)."""

EVENTS_NAMED, OBJECTS_NAMED = 8, 20
"""Maximum number of events and objects that the object agent's answer names."""


class VideoAgentMem(CataloguedMethod, card=CATALOGUE["videoagent_mem"]):
    def answer(self, asked: Asked, calls: Calls) -> Answer:
        settings = own_settings(asked.settings, VIDEOAGENT_MEM)
        # A number of people is shown by as many moments.
        toolbox = Toolbox(replace(asked, settings=replace(asked.settings, citations=EVIDENCE)), calls)
        tools = [SEGMENT_LOCALIZATION, caption_retrieval(settings.window), VISUAL_QUESTION_ANSWERING]
        if settings.objects:
            tools.insert(1, object_memory_querying(settings.inner_steps))
        if asked.settings.effort != "paper":
            tools += [TRANSCRIPT_SEARCH, TERM_FREQUENCY]
        rules = load("mem_rules", asked.question.profile).template
        end = run_loop(toolbox, LoopRequest(tools, rules, _opening(toolbox), settings.steps))
        return answer_from_evidence(toolbox, MethodResult(self.needs, end.records, end.proposed, error=end.error))


def _opening(toolbox: Toolbox) -> str:
    """Return the overview of the videos and the segments nearest to the question, as data; "" at effort `paper`, or if
    there is neither. Raises ModelError."""
    if toolbox.asked.settings.effort == "paper":
        return ""
    parts = [show_overview(toolbox)] if "topics" in toolbox.artifacts else []
    if "events" in toolbox.artifacts:
        with toolbox.calls.timed("retrieval"):
            found = show_segments(toolbox, toolbox.asked.query)
        toolbox.calls.on_progress("retrieval", 1, 1, f"{len(found.events)} events")
        parts += [] if found.error else [found.text]
    text = "\n".join(part for part in parts if part)
    return f"<events>\n{text}\n</events>" if text else ""


# --- segment_localization --------------------------------------------------------------------------------------------


def show_segments(toolbox: Toolbox, query: str) -> Observation:
    """Return the SEGMENTS events that fit a description best, each with its best chunk. Raises ModelError."""
    weighted = toolbox.asked.settings.effort == "paper"
    events = _by_weights(toolbox, query) if weighted else clips_like(toolbox, query, SEGMENTS)
    if not events:
        return Observation("No segment is like that. Use other words.", NOTHING_FOUND)
    room = toolbox.observation_tokens // (2 * len(events))
    lines: list[str] = []
    for event in events:
        lines.append(toolbox.event_line(event, most_tokens=room))
        chunk = _best_chunk(event, query)
        if chunk is not None and len(event.chunks) > 1:
            lines.append(f"  best segment: {toolbox.place(event.video_id, chunk.span)}, from {chunk.span.start_ms} ms")
    return Observation("\n".join(lines), events=tuple(event.id for event in events))


def _by_weights(toolbox: Toolbox, query: str) -> list[StoredEvent]:
    """Return the events of the highest 18 * cosine of their best frame + 11 * cosine of their text, in order of time.
    An event that only one view compared has the other view's lowest cosine."""
    captions = _best_by_event(toolbox.search("event", toolbox.text_vector(query), RANKED_EVENTS, floor=-1.0))
    pictures = _best_by_event(toolbox.search("frame", toolbox.frame_vector(query), RANKED_FRAMES, floor=-1.0))
    toolbox.record_similarities([*captions.values(), *pictures.values()])
    scores = {
        event_id: VIDEO_WEIGHT * pictures.get(event_id, min(pictures.values(), default=0.0))
        + CAPTION_WEIGHT * captions.get(event_id, min(captions.values(), default=0.0))
        for event_id in captions.keys() | pictures.keys()
    }
    best = sorted(scores, key=lambda event_id: (-scores[event_id], event_id))[:SEGMENTS]
    return sorted(toolbox.load(best), key=lambda event: (event.video_id, event.span, event.id))


def _best_by_event(hits: Sequence[Hit]) -> dict[UUID, float]:
    """Return the highest similarity of each event. hits: best first."""
    return {hit.event_id: hit.similarity for hit in reversed(hits)}


def _best_chunk(event: StoredEvent, query: str) -> Chunk | None:
    """Return the chunk that shares most words with query, the earliest of equals; None if none shares a word."""
    wanted = content_words(query)
    shared = [
        len(wanted & content_words(" ".join([chunk.description or "", *(line.text for line in chunk.transcript)])))
        for chunk in event.chunks
    ]
    return event.chunks[shared.index(max(shared))] if any(shared) else None


SEGMENT_LOCALIZATION = Tool(
    "segment_localization",
    f"Finds the {SEGMENTS} segments that fit a description best.",
    {"description": Text()},
    frozenset({"events"}),
    6,
    lambda toolbox, arguments: show_segments(toolbox, arguments["description"]),
)


# --- visual_question_answering ---------------------------------------------------------------------------------------


def _ask_frames(toolbox: Toolbox, arguments: Mapping[str, Any]) -> Observation:
    number, at_ms = arguments["video"], arguments["at_ms"]
    video = toolbox.video(number)
    if video is None or not toolbox.extents[video].contains(at_ms):
        return Observation(f"There is nothing at that time. {extents_in_words(toolbox)}", OUT_OF_RANGE)
    start_ms = at_ms // CHUNK_MS * CHUNK_MS
    around = Span(max(0, start_ms - CHUNK_MS), start_ms + 2 * CHUNK_MS)
    question = f"Describe what happens, then answer: {arguments['question']}"
    return inspect_ranges(toolbox, question, [(number, around)], fps=2.0, high=False, most_frames=FRAMES)


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
        lambda toolbox, arguments: ask_objects(toolbox, arguments["question"], steps=steps),
    )


def ask_objects(toolbox: Toolbox, question: str, *, steps: int) -> Observation:
    """Let an inner agent answer a question about objects in at most `steps` steps. Return its answer with the events
    that it rests on, or with what it saw if it gives none. Raises Halt."""
    log = toolbox.evidence
    events_before, objects_before = set(log.numbers), set(log.object_numbers)
    there = categories_there(toolbox.asked.graph.objects(limit=MAX_OBJECTS))
    rules = load("mem_objects_rules", toolbox.asked.question.profile).template
    opening = f"Tracked: <objects>{as_data(there)}</objects>"
    request = LoopRequest((OBJECT_SQL, OBJECT_LOOKUP), rules, opening, steps, stage="object_step", path=toolbox.path)
    end = run_loop(toolbox.for_question(question), request)
    if end.halt is not None:
        raise end.halt
    new_objects = [thing for thing in log.objects.values() if thing.id not in objects_before]
    proposed = end.proposed
    if proposed is None and not new_objects:
        if end.forced == "budget":
            return Observation("The budget does not hold a question to the object memory.", NOT_AVAILABLE)
        return failed(end.error.code) if end.error else Observation("The object memory says nothing.", NOTHING_FOUND)
    text = "The object memory does not decide this."
    if proposed is not None and proposed.sufficient:
        text = as_data(proposed.text)
        log.add_note(f"Asked of the object memory: {question} It says: {text}")
    cited = [log.events[number] for number in (proposed.cited if proposed else ())]
    events = cited or [event for event in log.events.values() if event.id not in events_before]
    places = [
        f"{log.label_event(event)} {toolbox.place(event.video_id, event.span)}" for event in events[:EVENTS_NAMED]
    ]
    objects = [f"{log.label_object(thing)} {object_name(thing)}" for thing in new_objects[:OBJECTS_NAMED]]
    lines = [text, f"Events: {', '.join(places) or 'none'}", f"Objects: {', '.join(objects) or 'none new'}"]
    return Observation(
        "\n".join(lines),
        cut=len(events) > EVENTS_NAMED or len(new_objects) > OBJECTS_NAMED,
        events=tuple(event.id for event in events[:EVENTS_NAMED]),
        objects=tuple(thing.id for thing in new_objects[:OBJECTS_NAMED]),
    )
