"""What is known before an answer: G, of the whole video, before anything is retrieved (AVATAAR, section III-B1), and
the local context of a round, the best frames with their neighbours and the nearest spoken lines (eq. 10 to 15).

G is made of what the index holds already, without a model call: the overview with its topics, the people as entities
describe them, and the tracked things.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeVar
from uuid import UUID

from gpu_workers.engine.answering.agent.caption_tools import search_speech, spoken_lines
from gpu_workers.engine.answering.agent.search_tools import VIDEOS, show_overview
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.languages.words import plain
from gpu_workers.engine.models.roles import ModelError, embed_queries
from gpu_workers.engine.ports import StoredEntity, StoredEvent, StoredFrame, StoredLine, Within
from gpu_workers.engine.retrieval.frames import frames_of_hits
from gpu_workers.engine.retrieval.object_names import categories_there

Item = TypeVar("Item")

MOST_PEOPLE = 8
MOST_THINGS = 500
"""Maximum number of tracked things that are counted by category."""

DESCRIPTION_CHARACTERS = 120

HITS = 32
"""Frames that a query reads, to find the best of each of a few events."""

NEIGHBOUR_MS = 10_000
"""Maximum distance of a neighbour in the order of frames; they are stored once a second."""

NOT_YET = "No summary of the whole video is written yet."


# --- the whole video -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GlobalContext:
    """G in words, a line each. people: what the entities say of each person that the summaries name."""

    notes: tuple[str, ...]
    people: Mapping[str, str]


def global_context(toolbox: Toolbox) -> GlobalContext:
    """Return G for the videos in scope, and note it as shown. An embedder that fails leaves the people without
    descriptions."""
    overview = show_overview(toolbox)
    people = _people(toolbox) if overview else {}
    more = ["People: " + "; ".join(f"{name}: {words}" for name, words in people.items())] if people else []
    if "objects" in toolbox.artifacts:
        more.append(f"Tracked things: {as_data(categories_there(toolbox.asked.graph.objects(limit=MOST_THINGS)))}.")
    for note in more:
        toolbox.evidence.add_note(note)
    return GlobalContext((*(overview or NOT_YET).splitlines(), *more), people)


def described(entities: Iterable[StoredEntity]) -> dict[str, str]:
    """Return what entities are described as, by name and alias; those without a description are left out."""
    known: dict[str, str] = {}
    for entity in entities:
        words = as_data(entity.description).rstrip(".")[:DESCRIPTION_CHARACTERS]
        for name in (entity.name, *entity.aliases):
            if words and plain(name) and plain(words) != plain(name):
                known.setdefault(as_data(name), words)
    return known


def _people(toolbox: Toolbox) -> dict[str, str]:
    """Return what the entities say of the first MOST_PEOPLE names of the summaries."""
    graph, videos = toolbox.asked.graph, list(toolbox.videos.values())[:VIDEOS]
    names = [name for overview in graph.overviews_of(videos).values() for name in overview.people]
    names += [name for topics in graph.topics_of(videos).values() for topic in topics for name in topic.people]
    wanted = list({plain(name): as_data(name) for name in names if plain(name)}.values())[:MOST_PEOPLE]
    try:
        vectors = embed_queries(toolbox.asked.models.text_embedder, wanted, meter=toolbox.meter) if wanted else ()
    except ModelError:
        return {}
    hits = (hit for vector in vectors for hit in toolbox.search("entity", vector, 3))
    ids = list(dict.fromkeys(hit.item for hit in hits if hit.item is not None))
    found = graph.entities(ids)
    known = {plain(name): words for name, words in described(found[key] for key in ids if key in found).items()}
    return {name: known[plain(name)] for name in wanted if plain(name) in known}


# --- a round ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event in which something named probably happens. phrase: what was named."""

    event: StoredEvent
    phrase: str


@dataclass(frozen=True, slots=True)
class LocalContext:
    """What is retrieved for one round. frames: in order of video and time. events: those of the frames, or where there
    are no frames, the nearest ones. spoken: lines in words."""

    frames: tuple[StoredFrame, ...]
    events: tuple[StoredEvent, ...]
    spoken: tuple[str, ...]


def gather(
    toolbox: Toolbox, queries: Sequence[str], anchors: Sequence[Anchor], *, places: int, lines: int, most: int
) -> LocalContext:
    """Return the local context (AVATAAR, eq. 10 to 15), and number it. Raises ModelError of an embedder.

    queries: the first is the question as it is searched. anchors: inside them the first places are sought, by their own
    words. places: number of distinct events whose best frame is taken, each with the frame before and the frame after
    it; at least one per query. lines: number of spoken lines. most: maximum number of frames.
    """
    places = max(places, len(queries))
    frames = _frames(toolbox, queries, anchors[:places], places, most) if "frames" in toolbox.artifacts else []
    events = toolbox.load(frame.event_id for frame in frames) if frames else _events(toolbox, queries, anchors, places)
    spoken: list[str] = []
    if "transcript" in toolbox.artifacts:
        share = max(1, lines // len(queries))
        found = {line.id: line for query in queries for line in search_speech(toolbox, query, limit=share)}
        spoken, _ = spoken_lines(toolbox, sorted(list(found.values())[:lines], key=_in_time))
    for event in sorted(events, key=_in_time):
        toolbox.evidence.label_event(event)
    for frame in frames:
        toolbox.evidence.label_frame(frame)
    return LocalContext(tuple(frames), tuple(events), tuple(spoken))


def _frames(
    toolbox: Toolbox, queries: Sequence[str], anchors: Sequence[Anchor], places: int, most: int
) -> list[StoredFrame]:
    """Return the best frame of each anchor and of other events, each with its neighbours."""

    def ranking(query: str, limit: int, within: Within | None = None) -> Sequence[StoredFrame]:
        hits = toolbox.search("frame", toolbox.frame_vector(query), limit, within=within, floor=-1.0)
        toolbox.record_similarities(hit.similarity for hit in hits)
        return frames_of_hits(toolbox.asked.graph, hits)

    best: dict[UUID, StoredFrame] = {}
    for anchor in anchors:
        for frame in ranking(anchor.phrase, 1, Within(anchor.event.video_id, anchor.event.span)):
            best.setdefault(frame.event_id, frame)
    for frame in _in_turns([ranking(query, HITS) for query in queries]):
        if len(best) < places:
            best.setdefault(frame.event_id, frame)
    shown: dict[UUID, StoredFrame] = {}
    for frame in best.values():
        window = {near.id: near for near in _window(toolbox, frame)}
        if len(shown | window) <= most:
            shown |= window
        elif len(shown) < most:
            shown[frame.id] = frame
    return sorted(shown.values(), key=lambda frame: (frame.video_id, frame.ms))


def _window(toolbox: Toolbox, frame: StoredFrame) -> list[StoredFrame]:
    """Return a frame with the stored frames just before and after it."""
    around = Span(max(0, frame.ms - NEIGHBOUR_MS), frame.ms + NEIGHBOUR_MS + 1)
    near = toolbox.asked.graph.frames_between(frame.video_id, around, limit=8 * NEIGHBOUR_MS // 1_000)
    before = [other for other in near if other.ms < frame.ms][-1:]
    return [*before, frame, *[other for other in near if other.ms > frame.ms][:1]]


def _events(toolbox: Toolbox, queries: Sequence[str], anchors: Sequence[Anchor], places: int) -> list[StoredEvent]:
    """Return the anchors and the events nearest to the queries."""
    rankings = []
    for query in queries:
        hits = toolbox.search("event", toolbox.text_vector(query), places, floor=-1.0)
        toolbox.record_similarities(hit.similarity for hit in hits)
        rankings.append([hit.event_id for hit in hits])
    return toolbox.load([*(anchor.event.id for anchor in anchors), *_in_turns(rankings)])[: places + len(anchors)]


def _in_turns(rankings: Sequence[Sequence[Item]]) -> Iterator[Item]:
    """Yield the items of the rankings in turns, so that each sub-question gets a place."""
    return (item for turn in zip_longest(*rankings) for item in turn if item is not None)


def _in_time(item: StoredEvent | StoredLine) -> tuple[UUID, Span]:
    return item.video_id, item.span
