"""What is known before an answer: G, of the whole video, before anything is retrieved (AVATAAR, section III-B1), and
the local context of a round, the best frames with their neighbours and the nearest spoken lines (eq. 10 to 15).

G is made of what the index holds already, without a model call: the overview, the topics, the people as entities
describe them, and the tracked things.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from uuid import UUID

from gpu_workers.engine.answering.agent.caption_tools import search_speech, spoken_lines
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Overview, Span, Topic
from gpu_workers.engine.languages.words import plain
from gpu_workers.engine.models.roles import ModelError, embed_queries
from gpu_workers.engine.ports import StoredEntity, StoredEvent, StoredFrame, StoredLine, Within
from gpu_workers.engine.retrieval.frames import evenly, frames_of_hits

MOST_VIDEOS = 12
"""Maximum number of videos that are listed, a line each; the others are counted."""

MOST_TOPICS = 16
"""Maximum number of topics that are listed, evenly chosen: so G has one size, however long the video is."""

MOST_PEOPLE = 8
MOST_THINGS = 500
"""Maximum number of tracked things that are counted by category."""

OVERVIEW_CHARACTERS, LINE_CHARACTERS = 1_500, 240
DESCRIPTION_CHARACTERS = 120

HITS = 32
"""Frames that a query reads, to find the best of each of a few events."""

NEIGHBOUR_MS = 10_000
"""Maximum distance of a neighbour in the order of frames; they are stored once a second."""

NOT_YET = "No summary of the whole video is written yet."


@dataclass(frozen=True, slots=True)
class GlobalContext:
    """G in words, a line each. people: what the entities say of each person that the summaries name."""

    notes: tuple[str, ...]
    people: Mapping[str, str]


def global_context(toolbox: Toolbox) -> GlobalContext:
    """Return G for the videos in scope. An embedder that fails leaves the people without descriptions."""
    videos = list(toolbox.videos.values())
    if len(videos) == 1:
        notes, names = _of_one(toolbox, videos[0])
    else:
        notes, names = _of_several(toolbox, videos)
    people = _people(toolbox, names)
    if people:
        notes.append("People: " + "; ".join(f"{name}: {description}" for name, description in people.items()))
    if "objects" in toolbox.artifacts:
        notes.append(_things(toolbox))
    return GlobalContext(tuple(note for note in notes if note), people)


def described(entities: Iterable[StoredEntity]) -> dict[str, str]:
    """Return what entities are described as, by name and alias; those without a description are left out."""
    known: dict[str, str] = {}
    for entity in entities:
        words = as_data(entity.description).rstrip(".")[:DESCRIPTION_CHARACTERS]
        for name in (entity.name, *entity.aliases):
            if words and plain(name) and plain(words) != plain(name):
                known.setdefault(as_data(name), words)
    return known


def _of_one(toolbox: Toolbox, video_id: UUID) -> tuple[list[str], list[str]]:
    """Return the notes on a single video and the people that it names."""
    overview, topics = toolbox.asked.graph.overview(video_id), toolbox.asked.graph.topics(video_id)
    notes = [f"The video, {toolbox.place(video_id, toolbox.extents[video_id])}."]
    if overview is None:
        notes.append(NOT_YET)
    else:
        notes.append(f"Summary: {as_data(overview.text)[:OVERVIEW_CHARACTERS]}")
        if ends := _ends_early(toolbox, video_id, overview):
            notes.append(ends)
    shown = [topics[index] for index in evenly(len(topics), MOST_TOPICS)]
    if shown:
        notes.append("Topics:" if len(shown) == len(topics) else f"{len(shown)} of {len(topics)} topics:")
        notes += [_topic_line(toolbox, video_id, topic) for topic in shown]
    names = [*(overview.people if overview else ()), *(name for topic in topics for name in topic.people)]
    return notes, names


def _of_several(toolbox: Toolbox, videos: Sequence[UUID]) -> tuple[list[str], list[str]]:
    notes, names = [f"There are {len(videos)} videos."], list[str]()
    for video_id in videos[:MOST_VIDEOS]:
        overview = toolbox.asked.graph.overview(video_id)
        about = as_data(overview.text)[:LINE_CHARACTERS] if overview else NOT_YET
        ends = _ends_early(toolbox, video_id, overview) if overview else ""
        notes.append(f"{toolbox.place(video_id, toolbox.extents[video_id])}: {about}{f' {ends}' if ends else ''}")
        names += overview.people if overview else ()
    return notes, names


def _ends_early(toolbox: Toolbox, video_id: UUID, overview: Overview) -> str:
    """Return where the summary ends, if the index goes further; else ""."""
    if overview.until_ms >= toolbox.extents[video_id].end_ms:
        return ""
    return f"The summary ends at {clock(max(1, overview.until_ms), hours=True)}."


def _topic_line(toolbox: Toolbox, video_id: UUID, topic: Topic) -> str:
    people = f" ({', '.join(map(as_data, topic.people))})" if topic.people else ""
    text = f"{as_data(topic.title)}{people}: {as_data(topic.summary)}"
    return f"{toolbox.place(video_id, topic.span)} {text[:LINE_CHARACTERS]}"


def _people(toolbox: Toolbox, names: Iterable[str]) -> dict[str, str]:
    """Return what the entities say of the first MOST_PEOPLE names."""
    wanted = list({plain(name): as_data(name) for name in names if plain(name)}.values())[:MOST_PEOPLE]
    try:
        vectors = embed_queries(toolbox.asked.models.text_embedder, wanted, meter=toolbox.meter) if wanted else ()
    except ModelError:
        return {}
    hits = (hit for vector in vectors for hit in toolbox.search("entity", vector, 3))
    ids = list(dict.fromkeys(hit.item for hit in hits if hit.item is not None))
    found = toolbox.asked.graph.entities(ids) if ids else {}
    known = {plain(name): words for name, words in described(found[key] for key in ids if key in found).items()}
    return {name: known[plain(name)] for name in wanted if plain(name) in known}


def _things(toolbox: Toolbox) -> str:
    things = toolbox.asked.graph.objects(limit=MOST_THINGS)
    counts = Counter(as_data(thing.category) for thing in things)
    least = "at least " if len(things) == MOST_THINGS else "about "
    listed = ", ".join(f"{least}{count} {category}" for category, count in sorted(counts.items()))
    return f"Tracked things: {listed}." if listed else ""


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


@dataclass(frozen=True, slots=True)
class LocalSearch:
    """What a round looks for. queries: the first is the question as it is searched. anchors: inside them the first
    places are sought, by their own words. places: number of distinct events whose best frame is taken, each with the
    frame before and the frame after it; at least one per query. lines: number of spoken lines. most: maximum number of
    frames."""

    queries: Sequence[str]
    anchors: Sequence[Anchor]
    places: int
    lines: int
    most: int


def gather(toolbox: Toolbox, wanted: LocalSearch) -> LocalContext:
    """Return the local context (AVATAAR, eq. 10 to 15), and number it. Raises ModelError of an embedder."""
    frames = _frames(toolbox, wanted) if "frames" in toolbox.artifacts else []
    events = toolbox.load(frame.event_id for frame in frames) if frames else _events(toolbox, wanted)
    spoken: tuple[str, ...] = ()
    if "transcript" in toolbox.artifacts:
        spoken = tuple(spoken_lines(toolbox, _lines(toolbox, wanted))[0])
    for event in sorted(events, key=lambda event: (event.video_id, event.span)):
        toolbox.evidence.label_event(event)
    for frame in frames:
        toolbox.evidence.label_frame(frame)
    return LocalContext(tuple(frames), tuple(events), spoken)


def _frames(toolbox: Toolbox, wanted: LocalSearch) -> list[StoredFrame]:
    graph, places = toolbox.asked.graph, max(wanted.places, len(wanted.queries))
    vectors = [toolbox.frame_vector(query) for query in wanted.queries]
    best: list[StoredFrame] = []
    for anchor in wanted.anchors[:places]:
        inside = Within(anchor.event.video_id, anchor.event.span)
        hits = toolbox.search("frame", toolbox.frame_vector(anchor.phrase), 1, within=inside, floor=-1.0)
        best += [frame for frame in frames_of_hits(graph, hits) if frame not in best]
        toolbox.record_similarities(hit.similarity for hit in hits)
    rankings = []
    for vector in vectors:
        hits = toolbox.search("frame", vector, HITS, floor=-1.0)
        rankings.append(frames_of_hits(graph, hits))
        toolbox.record_similarities(hit.similarity for hit in hits)
    taken = {frame.event_id for frame in best}
    # The queries take turns, so that each sub-question gets a place.
    for frame in (frame for turn in zip_longest(*rankings) for frame in turn if frame is not None):
        if len(best) >= places:
            break
        if frame.event_id not in taken:
            taken.add(frame.event_id)
            best.append(frame)
    shown: dict[UUID, StoredFrame] = {}
    for frame in best:
        window = _window(toolbox, frame)
        if len(shown | {near.id: near for near in window}) > wanted.most:
            window = [frame] if len(shown) < wanted.most else []
        shown.update((near.id, near) for near in window)
    return sorted(shown.values(), key=lambda frame: (frame.video_id, frame.ms))


def _window(toolbox: Toolbox, frame: StoredFrame) -> list[StoredFrame]:
    """Return a frame with the stored frames just before and after it."""
    around = Span(max(0, frame.ms - NEIGHBOUR_MS), frame.ms + NEIGHBOUR_MS + 1)
    near = toolbox.asked.graph.frames_between(frame.video_id, around, limit=8 * NEIGHBOUR_MS // 1_000)
    before = [other for other in near if other.ms < frame.ms][-1:]
    return [*before, frame, *[other for other in near if other.ms > frame.ms][:1]]


def _events(toolbox: Toolbox, wanted: LocalSearch) -> list[StoredEvent]:
    places = max(wanted.places, len(wanted.queries))
    rankings = []
    for vector in embed_queries(toolbox.asked.models.text_embedder, list(wanted.queries), meter=toolbox.meter):
        hits = toolbox.search("event", vector, places, floor=-1.0)
        rankings.append([hit.event_id for hit in hits])
        toolbox.record_similarities(hit.similarity for hit in hits)
    ids = [event_id for turn in zip_longest(*rankings) for event_id in turn if event_id is not None]
    return toolbox.load([*(anchor.event.id for anchor in wanted.anchors), *ids])[: places + len(wanted.anchors)]


def _lines(toolbox: Toolbox, wanted: LocalSearch) -> list[StoredLine]:
    """Return at most wanted.lines lines, as many of each query."""
    found: dict[UUID, StoredLine] = {}
    for query in wanted.queries:
        lines = search_speech(toolbox, query, limit=max(1, wanted.lines // len(wanted.queries)))
        found.update((line.id, line) for line in lines)
    return sorted(list(found.values())[: wanted.lines], key=lambda line: (line.video_id, line.span))
