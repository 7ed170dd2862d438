"""The view of words finds the same on PostgreSQL and in memory, in every scope, whatever is typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest

from backend.ekg import sketch_search
from backend.ekg.models import Posting
from backend.ekg.retirement import drop_version
from gpu_workers.engine.ekg import Chunk, Span, TranscriptLine
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.ports import Hit, KnowledgeGraph, ViewQuery, Within
from tests.conftest import Cast
from tests.ekg.worlds import END_MS, PLACES, exact_record, make_world, postgres, store
from tests.factories import make_video

NOTHING = np.zeros(16, dtype=np.float32)
WORDS = ("owl", "An", "now", "100%", "a_b", "axb", "back\\slash", "strasse", "STRASSE", "café", "cafe", "istanbul",
         "σίσυφος", "sign", "sign 7.1", "sign7.1", "31.0", "event", "event 3", "chunk", "at", "the", "events", "owls",
         "Owll", "unknown", "北京", "'; DROP TABLE ekg_event; --", "%", "&|!", "\0", "\ud800", "", " ", "\u202eowl",
         "אבג", "x" * 4_000, "owl " * 1_000, "$1", "%(tenant)s", "a:b & c", "(", "<->", "{}", "NULL")  # fmt: skip


def words_of(random: np.random.Generator) -> tuple[str, tuple[str, ...]]:
    text = " ".join(str(word) for word in random.choice(np.array(WORDS, dtype=object), size=int(random.integers(0, 5))))
    exact = [str(word) for word in random.choice(np.array(WORDS, dtype=object), size=int(random.choice([0, 0, 1, 2])))]
    return text, tuple(exact)


def found(graph: KnowledgeGraph, text: str, *exact: str, limit: int = 500, within: Within | None = None) -> list[Hit]:
    return list(graph.search_views({"words": ViewQuery(NOTHING, limit, 0.0, within, text, exact)})["words"])


def assert_same_words(
    random: np.random.Generator, one: KnowledgeGraph, other: KnowledgeGraph, parts: Sequence[Within | None]
) -> int:
    """Assert that both graphs find the same; return the number of hits."""
    everywhere = found(one, "sign event owl strasse")
    assert everywhere == found(other, "sign event owl strasse")
    compared = len(everywhere)
    for _ in range(25):
        text, exact = words_of(random)
        limit = int(random.choice([0, 1, 3, 8, 500]))
        within = parts[int(random.integers(len(parts)))]
        hits = found(one, text, *exact, limit=limit, within=within)
        assert hits == found(other, text, *exact, limit=limit, within=within), (text, exact)
        assert len(hits) <= max(0, limit)
        assert all(0 < hit.similarity <= 1 and hit.view == "words" and hit.item == hit.event_id for hit in hits)
        compared += len(hits)
    return compared


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_words_are_the_same_in_every_scope(acme: Cast, globex: Cast, seed: int) -> None:
    random = np.random.default_rng(seed)
    world = make_world(random, acme, globex)
    first, second = world.videos
    starts = [int(start) for start in random.integers(0, END_MS, size=4)]
    parts = [
        None,
        *(
            Within(video.video_id, Span(start, start + int(random.choice([1, 10_000, END_MS]))))
            for video, start in zip((first, first, second, world.foreign), starts, strict=True)
        ),
    ]
    both = [(video.video_id, 1, END_MS) for video in world.videos]
    for span in PLACES:
        with postgres(acme, *both, span=span) as graph:
            compared = assert_same_words(random, graph, InMemoryGraph(world.videos, span=span), parts)
            assert (compared > 0) == (span.start_ms < END_MS)
    with postgres(acme, (first.video_id, 1, 40_000), (second.video_id, 1, 0)) as graph:
        assert assert_same_words(random, graph, InMemoryGraph([replace(first, until_ms=40_000)]), parts) > 0
    with postgres(acme, (first.video_id, 2, END_MS)) as graph:
        assert assert_same_words(random, graph, InMemoryGraph([world.second_version]), parts) > 0
    with postgres(globex, *both) as graph:
        assert found(graph, "owl sign event") == []


def told(video_id: UUID, *events: tuple[str, Sequence[str], Sequence[str]]) -> MemoryVideo:
    """Return a video with an event of 3 s for each (summary, writing, speech)."""
    records, chunks = [], []
    for n, (summary, written, spoken) in enumerate(events):
        record = exact_record(np.random.default_rng(n), video_id, 1, n, n, n + 1)
        records.append(
            replace(record, event=replace(record.event, summary=summary), entities=(), mentions=(), relations=())
        )
        lines = tuple(
            TranscriptLine(Span(n * 3_000 + 10 * k, n * 3_000 + 10 * k + 5), text) for k, text in enumerate(spoken)
        )
        span = Span(n * 3_000, (n + 1) * 3_000)
        chunks.append(Chunk(n, span, summary, on_screen_text=tuple(written), transcript=lines))
    return MemoryVideo(video_id, records, chunks)


def test_writing_speech_and_summary_are_found_with_the_piece_that_matches(acme: Cast) -> None:
    with acme.scope():
        video_id = UUID(str(make_video().id))
    video = told(
        video_id,
        ("A red car stops at the gate.", ["B-MW 1234", "EXIT"], ["Open the gate, please."]),
        ("A woman runs with a dog.", ["SCHMIDT GmbH"], []),
        ("A man reads.", ["他在北京大学学习"], ["He said: to be or not to be"]),
        ("A lorry turns.", ["B MW 1243"], []),
        ("Der Mann öffnet die schweren Türen des Hauses.", [], []),
    )
    store(acme, video)
    ids = {record.event.id: n for n, record in enumerate(video.events)}

    with postgres(acme, (video_id, 1, END_MS)) as graph:

        def finds(text: str, *exact: str) -> list[tuple[int, str]]:
            hits = found(graph, text, *exact)
            assert hits == found(InMemoryGraph([video]), text, *exact)
            return [(ids[hit.event_id], hit.words) for hit in hits]

        assert finds("bmw1234")[0] == finds("Which car is BMW-1234?")[0] == (0, "B-MW 1234")
        assert finds("BMWI234")[0] == finds("8MW 1234")[0] == (0, "B-MW 1234"), "one letter misread"
        assert finds("BMW1243")[0] == (3, "B MW 1243")
        assert finds("Schmitt") == finds("schmitd") == [(1, "SCHMIDT GmbH")]
        assert finds("北京") == [(2, "他在北京大学学习")]
        assert finds("Wer öffnete die schwere Tür?") == [(4, "Der Mann öffnet die schweren Türen des Hauses.")]
        assert finds("dogs running") == [(1, "A woman runs with a dog.")]
        assert finds("", "GATE, please") == [(0, "Open the gate, please.")]
        assert finds("gate", "the gat") == finds("", "京大学习") == finds("", "234") == []
        assert finds("", "to be or not to be") == [(2, "He said: to be or not to be")]
        assert finds("red dog", "exit") == [(0, "EXIT")]
        assert {n for n, _ in finds("the")} == {0}, "a question of idle words alone searches them"
        assert finds("%") == finds("&|!") == finds("\0") == finds("") == []


def test_words_of_a_dropped_version_are_gone(acme: Cast, globex: Cast) -> None:
    world = make_world(np.random.default_rng(8), acme, globex)
    video_id = world.videos[0].video_id
    with acme.scope():
        assert Posting.objects.filter(video_id=video_id, index_version=1).exists()
        drop_version(video_id, 1)
        assert not Posting.objects.filter(video_id=video_id, index_version=1).exists()
        assert Posting.objects.filter(video_id=video_id, index_version=2).exists()


def test_words_are_the_same_in_a_large_scope(acme: Cast, globex: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large scope is searched by sketches of vectors; its words are read in full."""
    monkeypatch.setattr(sketch_search, "EXACT_MS", 0)
    random = np.random.default_rng(4)
    world = make_world(random, acme, globex)
    parts = [None, Within(world.videos[0].video_id, Span(10_000, 60_000))]
    for span in PLACES[:2]:
        with postgres(acme, *((video.video_id, 1, END_MS) for video in world.videos), span=span) as graph:
            assert assert_same_words(random, graph, InMemoryGraph(world.videos, span=span), parts) > 0
