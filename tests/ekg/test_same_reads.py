"""Every read of the graph gives the same on PostgreSQL and in memory, in every scope, and nothing from outside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from gpu_workers.engine.ekg import Chunk, Span, TranscriptLine
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.ports import KnowledgeGraph, StoredFrame, StoredTrack
from tests.conftest import Cast
from tests.ekg.worlds import END_MS, PLACES, SHAPES, World, exact_vector, make_world, postgres

WORDS = ("ow", "OW", "%", "_", "a_b", "\\", "k\\s", "STRASSE", "straße", "CAFÉ", "cafe\u0301", "i̇stanbul", "σίσυφος",
         "0", "never said", "", " ", "\0", "\ud800")  # fmt: skip
NAMES = ("a", "b", "alias", "c", "saw", "it", "Topic", "events", "1", "2", "5", "red", "blue", "car", "people",
         "vehicles", "event", "'; DROP", "%", "_", "&|!", "車", "\u05d0", "\0", "\ud800", "", "x" * 4_000)  # fmt: skip
ELSEWHERE = {"search_views", "events_sharing_entities", "next_events", "previous_events", "facts", "load_events"}
"""Reads that tests/ekg/test_memory_and_postgres.py compares."""
NARROWING = {"narrowed", "recordings"}
"""Compared by tests/ekg/test_narrowed.py."""

Read = Callable[[KnowledgeGraph], Any]


class Ids:
    """Ids of a world's rows: of both tenants, of both versions, and one that nobody has."""

    def __init__(self, world: World) -> None:
        videos = (*world.videos, world.second_version, world.foreign)
        self.videos = [*dict.fromkeys(video.video_id for video in videos), UUID(int=7)]
        self.events = [record.event.id for video in videos for record in video.events]
        self.entities = list(
            dict.fromkeys(e.id for video in videos for record in video.events for e in record.entities)
        )
        self.objects = [state.id for video in videos for state in video.objects]
        self.lines = [
            line.id for video in videos for line in InMemoryGraph([video]).lines_containing(["a", "o"], limit=999)
        ]


def some(random: np.random.Generator, ids: Sequence[UUID], count: int) -> list[UUID]:
    """Return that many of ids, some of them twice."""
    return [ids[i] for i in random.choice(len(ids), size=count)]


def reads_of(random: np.random.Generator, ids: Ids) -> Iterator[tuple[str, Read]]:
    """Yield one random call of each read."""

    def limit() -> int:
        return int(random.choice([-1, 0, 1, 3, 10, 500]))

    def span() -> Span:
        start = int(random.integers(0, END_MS))
        return Span(start, start + int(random.choice([1, 700, 12_000, 60_000, END_MS])))

    def reads(name: str, *arguments: Any, **named: Any) -> tuple[str, Read]:
        return name, lambda graph: getattr(graph, name)(*arguments, **named)

    video = some(random, ids.videos, 1)[0]
    words = [str(word) for word in random.choice(np.array(WORDS, dtype=object), size=int(random.integers(0, 3)))]
    yield reads("extents")
    yield reads("timeline", limit=limit())
    yield reads("undescribed")
    yield reads("events_between", video, span(), limit=limit())
    yield reads("chunks_between", video, span(), limit=limit())
    yield reads("frames_between", video, span(), limit=limit(), ends=bool(random.random() < 0.3))
    yield reads("frames_of", some(random, ids.events, 7), limit=limit())
    yield reads("lines", some(random, ids.lines, 12) if ids.lines else [])
    yield reads("lines_containing", words, limit=limit())
    yield reads("topics", video)
    yield reads("overview", video)
    yield reads("topics_of", some(random, ids.videos, 2))
    yield reads("overviews_of", some(random, ids.videos, 2))
    yield reads("objects", limit=limit())
    yield reads("objects", limit=limit(), ids=some(random, ids.objects, 4))
    yield reads("objects_like", exact_vector(random), limit=limit())
    yield reads("tracks_of", some(random, ids.objects, 6), limit=limit())
    yield reads("entities", some(random, ids.entities, 8))
    yield reads("entities_of", some(random, ids.events, 7))
    yield reads("events_of", some(random, ids.entities, 2), limit=limit())
    yield reads("relations_of", some(random, ids.entities, 4), limit=limit())
    yield reads("links_of", some(random, [*ids.entities, *ids.objects], 4), limit=limit())
    yield reads("things_named", " ".join(random.choice(np.array(NAMES, dtype=object), size=3)), limit=limit())


def plain(value: Any) -> Any:
    """Return an answer without what a store may do in its own way: keys of pictures, words of the lines in chunks."""
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, StoredFrame):
        return replace(value, thumbnail_key="")
    if isinstance(value, StoredTrack):
        looks = value.observed.appearance
        return replace(value, observed=replace(value.observed, appearance=None)), None if looks is None else [*looks]
    if isinstance(value, Chunk):
        return replace(value, transcript=tuple(TranscriptLine(line.span, line.text) for line in value.transcript))
    return value


def assert_same_reads(
    random: np.random.Generator, one: KnowledgeGraph, other: KnowledgeGraph, ids: Ids, *, rounds: int = 8
) -> Counter[str]:
    """Assert that both graphs read the same; return the number of rows by read. rounds: calls of each read."""
    rows: Counter[str] = Counter()
    for _ in range(rounds):
        for name, read in reads_of(random, ids):
            found = plain(read(one))
            assert found == plain(read(other)), name
            rows[name] += _count(name, found)
    return rows


def _count(name: str, found: Any) -> int:
    if name == "things_named":
        return sum(map(len, found.values()))
    return 1 if name == "overview" and found is not None else len(found or ())


def test_every_read_of_the_port_is_compared(acme: Cast, globex: Cast) -> None:
    world = make_world(np.random.default_rng(1), acme, globex)
    compared = {name for name, _ in reads_of(np.random.default_rng(1), Ids(world))}
    assert compared | ELSEWHERE | NARROWING | {"jpeg"} == {
        name for name in vars(KnowledgeGraph) if not name.startswith("_")
    }


@pytest.mark.parametrize(("seed", "shape"), enumerate(SHAPES))
def test_reads_are_the_same_in_every_scope(acme: Cast, globex: Cast, seed: int, shape: str) -> None:
    """The second video has a shape of its own, and there are rows of another version and of another tenant."""
    random = np.random.default_rng(seed)
    world = make_world(random, acme, globex, shape=shape)
    first, second = world.videos
    ids = Ids(world)
    both = [(video.video_id, 1, END_MS) for video in world.videos]
    rows: Counter[str] = Counter()
    for span in (*PLACES, Span(20_000, 21_000), Span(0, 60_000)):
        with postgres(acme, *both, span=span) as graph:
            rows += assert_same_reads(random, graph, InMemoryGraph(world.videos, span=span), ids)
    with postgres(acme, (first.video_id, 1, 40_000), (second.video_id, 1, 0)) as graph:
        growing = [replace(first, until_ms=40_000), replace(second, until_ms=0)]
        rows += assert_same_reads(random, graph, InMemoryGraph(growing), ids)
    with postgres(acme, (first.video_id, 1, 40_000), span=Span(50_000, 90_000)) as graph:
        late = InMemoryGraph([replace(first, until_ms=40_000)], span=Span(50_000, 90_000))
        assert assert_same_reads(random, graph, late, ids).total() == 0
    with postgres(acme, (first.video_id, 2, END_MS)) as graph:
        rows += assert_same_reads(random, graph, InMemoryGraph([world.second_version]), ids)
    assert {name for name, _ in reads_of(random, ids) if not rows[name]} == set(), "each read has found something"


def everything(graph: KnowledgeGraph, ids: Ids) -> dict[str, Any]:
    """Return what each read finds when it is asked for all that there is."""
    whole = Span(0, END_MS)
    return {
        "extents": graph.extents(),
        "undescribed": graph.undescribed(),
        "events": [place for video in ids.videos for place in graph.events_between(video, whole, limit=999)],
        "chunks": [chunk for video in ids.videos for chunk in graph.chunks_between(video, whole, limit=999)],
        "frames": [frame for video in ids.videos for frame in graph.frames_between(video, whole, limit=999)],
        "lines": graph.lines(ids.lines),
        "said": graph.lines_containing(["a", "o", "%", "_"], limit=999),
        "topics": [topic for video in ids.videos for topic in graph.topics(video)],
        "overviews": [told for video in ids.videos if (told := graph.overview(video)) is not None],
        "objects": graph.objects(limit=999),
        "pictures": graph.objects_like(np.eye(16, dtype=np.float32)[0], limit=999),
        "tracks": graph.tracks_of(ids.objects, limit=999),
        "entities": graph.entities(ids.entities),
        "participants": graph.entities_of(ids.events),
        "events of entities": graph.events_of(ids.entities, limit=999),
        "relations": graph.relations_of(ids.entities, limit=999),
        "links": graph.links_of(ids.entities, limit=999),
        "named a": graph.things_named("alias of a", limit=999)["name"],
        "titled": graph.things_named("topic", limit=999)["title"],
        "seen": graph.things_named("cars and people", limit=999)["object"],
    }


def test_a_foreign_an_unknown_and_an_unbuilt_video_have_no_rows(acme: Cast, globex: Cast) -> None:
    world = make_world(np.random.default_rng(30), acme, globex)
    ids = Ids(world)
    first = world.videos[0].video_id
    for scope in ((world.foreign.video_id, 1, END_MS), (UUID(int=9), 1, END_MS), (first, 3, END_MS), (first, 1, 0)):
        with postgres(acme, scope) as graph:
            assert not any(everything(graph, ids).values())
    with postgres(acme) as graph:
        assert not any(everything(graph, ids).values())
    with postgres(globex, (world.foreign.video_id, 1, END_MS), (first, 1, END_MS)) as graph:
        found = everything(graph, ids)
    assert all(found.values())
    assert plain(found) == plain(everything(InMemoryGraph([world.foreign]), ids))


def test_a_scope_narrowed_to_a_span_shows_nothing_outside(acme: Cast, globex: Cast) -> None:
    """Whatever is read lies in the span, or belongs to an event that does, and no text is about more."""
    world = make_world(np.random.default_rng(40), acme, globex)
    video, ids = world.videos[0], Ids(world)
    span = Span(31_000, 74_000)
    inside = {record.event.id for record in video.events if record.event.span.overlaps(span)}
    with postgres(acme, (video.video_id, 1, END_MS), span=span) as graph:
        found = everything(graph, ids)
    assert found["extents"] == {video.video_id: span}
    assert {place.event_id for place in found["events"]} == inside
    assert [chunk.n for chunk in found["chunks"]] == list(range(10, 25)), "3 s each, from 30 s to 75 s"
    assert [frame.ms for frame in found["frames"]] == list(range(31_000, 74_000, 1_000))
    assert found["lines"]
    assert all(line.span.overlaps(span) for line in (*found["lines"], *found["said"]))
    assert [topic.n for topic in found["topics"]] == [t.n for t in video.topics if span.holds(t.span)]
    assert 0 < len(found["topics"]) < len(video.topics)
    assert found["overviews"] == []
    assert all(span.holds(part) for thing in found["objects"] for part in thing.spans)
    for thing in found["objects"]:
        mine = video.tracks[thing.id]
        assert thing.entries == sum(track.entered and span.contains(track.span.start_ms) for track in mine)
        assert thing.exits == sum(
            track.left and track.span.end_ms <= 74_000 for track in mine if track.span.end_ms > 31_000
        )
    assert all(span.holds(track.observed.span) for track in found["tracks"])
    assert all(span.contains(box[0]) for track in found["tracks"] for box in track.observed.boxes)
    taken: Counter[UUID] = Counter(mention.entity_id for mention in found["participants"])
    assert {entity_id: entity.weight for entity_id, entity in found["entities"].items() if taken[entity_id] < 3} == {
        entity_id: count for entity_id, count in taken.items() if count < 3
    }
    assert {place.event_id for place in found["events of entities"]} <= inside
    assert {relation.place.event_id for relation in found["relations"]} <= inside


def test_words_are_found_as_they_are_written_whatever_their_case(acme: Cast, globex: Cast) -> None:
    world = make_world(np.random.default_rng(50), acme, globex)
    video: MemoryVideo = world.videos[0]
    with postgres(acme, (video.video_id, 1, END_MS)) as graph:

        def said(word: str) -> set[str]:
            lines = graph.lines_containing([word], limit=999)
            assert lines == InMemoryGraph([video]).lines_containing([word], limit=999)
            return {line.text.split(" at ")[0] for line in lines}

        assert said("OW") == {"An owl now", "100% ow"}
        assert said("0%") == {"100% ow"}
        assert said("a_B") == {"a_b or aXb"}
        assert said("K\\S") == {"back\\slash"}
        assert said("strasse") == {"Straße STRASSE"}
        assert said("CAFÉ") == {"Café cafe\u0301"}
        assert said("σίσυφοσ") == {"İstanbul ΣΊΣΥΦΟΣ"}
        assert said("a%") == said(".*") == said("") == said("\0") == set()
