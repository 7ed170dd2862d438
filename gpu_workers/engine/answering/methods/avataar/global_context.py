"""G: what is known of the whole video before anything is retrieved (AVATAAR, section III-B1).

It is made of what the index holds already, without a model call: the overview, the topics, the people as entities
describe them, and the tracked things.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.answering.words import plain
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Overview, Topic
from gpu_workers.engine.models.roles import ModelError, embed_queries
from gpu_workers.engine.ports import StoredEntity, ViewQuery
from gpu_workers.engine.retrieval.frames import evenly

MOST_VIDEOS = 12
"""Maximum number of videos that are listed, a line each; the others are counted."""

MOST_TOPICS = 16
"""Maximum number of topics that are listed, evenly chosen: so G has one size, however long the video is."""

MOST_PEOPLE = 8
MOST_THINGS = 500
"""Maximum number of tracked things that are counted by category."""

OVERVIEW_CHARACTERS, LINE_CHARACTERS = 1_500, 240
DESCRIPTION_CHARACTERS = 120

NOT_YET = "No summary of the whole video is written yet."


@dataclass(frozen=True, slots=True)
class GlobalContext:
    """G in words, a line each. people: what the entities say of each person that the summaries name."""

    notes: tuple[str, ...]
    people: Mapping[str, str]


def global_context(desk: Desk) -> GlobalContext:
    """Return G for the videos in scope. An embedder that fails leaves the people without descriptions."""
    videos = list(desk.videos.values())
    if len(videos) == 1:
        notes, names = _of_one(desk, videos[0])
    else:
        notes, names = _of_several(desk, videos)
    people = _people(desk, names)
    if people:
        notes.append("People: " + "; ".join(f"{name}: {description}" for name, description in people.items()))
    if "objects" in desk.artifacts:
        notes.append(_things(desk))
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


def _of_one(desk: Desk, video_id: UUID) -> tuple[list[str], list[str]]:
    """Return the notes on a single video and the people that it names."""
    overview, topics = desk.asked.graph.overview(video_id), desk.asked.graph.topics(video_id)
    notes = [f"The video, {desk.place(video_id, desk.extents[video_id])}."]
    if overview is None:
        notes.append(NOT_YET)
    else:
        notes.append(f"Summary: {as_data(overview.text)[:OVERVIEW_CHARACTERS]}")
        if ends := _ends_early(desk, video_id, overview):
            notes.append(ends)
    shown = [topics[index] for index in evenly(len(topics), MOST_TOPICS)]
    if shown:
        notes.append("Topics:" if len(shown) == len(topics) else f"{len(shown)} of {len(topics)} topics:")
        notes += [_topic_line(desk, video_id, topic) for topic in shown]
    names = [*(overview.people if overview else ()), *(name for topic in topics for name in topic.people)]
    return notes, names


def _of_several(desk: Desk, videos: Sequence[UUID]) -> tuple[list[str], list[str]]:
    notes, names = [f"There are {len(videos)} videos."], list[str]()
    for video_id in videos[:MOST_VIDEOS]:
        overview = desk.asked.graph.overview(video_id)
        told = as_data(overview.text)[:LINE_CHARACTERS] if overview else NOT_YET
        ends = _ends_early(desk, video_id, overview) if overview else ""
        notes.append(f"{desk.place(video_id, desk.extents[video_id])}: {told}{f' {ends}' if ends else ''}")
        names += overview.people if overview else ()
    return notes, names


def _ends_early(desk: Desk, video_id: UUID, overview: Overview) -> str:
    """Return where the summary ends, if the index goes further; else ""."""
    if overview.until_ms >= desk.extents[video_id].end_ms:
        return ""
    return f"The summary ends at {clock(max(1, overview.until_ms), hours=True)}."


def _topic_line(desk: Desk, video_id: UUID, topic: Topic) -> str:
    people = f" ({', '.join(map(as_data, topic.people))})" if topic.people else ""
    text = f"{as_data(topic.title)}{people}: {as_data(topic.summary)}"
    return f"{desk.place(video_id, topic.span)} {text[:LINE_CHARACTERS]}"


def _people(desk: Desk, names: Iterable[str]) -> dict[str, str]:
    wanted = list({plain(name): as_data(name) for name in names if plain(name)}.values())[:MOST_PEOPLE]
    if not wanted:
        return {}
    graph = desk.asked.graph
    try:
        vectors = embed_queries(desk.asked.models.text_embedder, wanted, meter=desk.meter)
    except ModelError:
        return {}
    ids: dict[UUID, None] = {}
    for vector in vectors:
        hits = graph.search_views({"entity": ViewQuery(vector, 3)}, floor=desk.asked.settings.retrieval.floor)
        ids.update((hit.item, None) for hit in hits["entity"] if hit.item is not None)
    found = graph.entities(list(ids))
    known = {plain(name): words for name, words in described(found[key] for key in ids if key in found).items()}
    return {name: known[plain(name)] for name in wanted if plain(name) in known}


def _things(desk: Desk) -> str:
    things = desk.asked.graph.objects(limit=MOST_THINGS)
    counts = Counter(as_data(thing.category) for thing in things)
    least = "at least " if len(things) == MOST_THINGS else "about "
    listed = ", ".join(f"{least}{count} {category}" for category, count in sorted(counts.items()))
    return f"Tracked things: {listed}." if listed else ""
