"""An Event Knowledge Graph from captions: its contents, and that a second run gives the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.evaluation.caption_checker import CaptionChecker
from bench.evaluation.captions import CaptionIndex, extracted, joined
from bench.evaluation.datasets import Sentence
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models.roles import CheckRequest, Meter, ModelError, ObserveRequest
from gpu_workers.engine.ports import ViewQuery
from gpu_workers.engine.retrieval.frames import frame_evidence
from tests.engine.answering.world import Request, ScriptedEmbedder, ScriptedReasoner, ScriptedSimilarity, embed


class CountedEmbedder(ScriptedEmbedder):
    def __init__(self) -> None:
        self.calls = 0

    def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        self.calls += 1
        return super().embed(texts, meter=meter) if len(texts) else np.zeros((0, self.dimension), dtype=np.float32)


def captions(*runs: tuple[str, int]) -> list[Sentence]:
    texts = [text for text, seconds in runs for _ in range(seconds)]
    return [Sentence(Span(1000 * n, 1000 * n + 1000), text) for n, text in enumerate(texts)]


COOKING = captions(("C opens the tap", 6), ("C washes a carrot", 6), ("the man X cuts the fresh bread with a knife", 6))


def index(folder: Path, embedder: ScriptedEmbedder | None = None) -> CaptionIndex:
    return CaptionIndex(embedder or CountedEmbedder(), ScriptedSimilarity(), folder=folder)


def told(video: MemoryVideo) -> list[tuple[int, int, str]]:
    return [(e.event.span.start_ms, e.event.span.end_ms, e.event.summary) for e in video.events]


def test_captions_become_events_that_cover_the_video_once(tmp_path: Path) -> None:
    video = index(tmp_path).of_captions("cooking", COOKING, profile="egocentric")

    assert told(video) == [
        (0, 6_000, "C opens the tap."),
        (6_000, 12_000, "C washes a carrot."),
        (12_000, 18_000, "the man X cuts the fresh bread with a knife."),
    ]
    assert [event.event.n for event in video.events] == [0, 1, 2]
    assert [chunk.span.start_ms for chunk in video.chunks] == list(range(0, 18_000, 3_000))
    assert [frame.ms for frame in video.frames] == [caption.span.start_ms for caption in COOKING]
    graph = InMemoryGraph([video])
    first, second, third = (record.event.id for record in video.events)
    assert graph.next_events([first, second, third]) == {first: second, second: third}


def test_captions_are_joined_to_long_events(tmp_path: Path) -> None:
    """Repeats add no words, no caption is lost, and the last event has what is left."""
    assert [(e.span.start_ms, e.span.end_ms, e.text) for e in joined(COOKING, 8)] == [
        (0, 12_000, "C opens the tap. C washes a carrot."),
        (12_000, 18_000, "the man X cuts the fresh bread with a knife."),
    ]
    assert joined([], 8) == []

    video = index(tmp_path).of_long_events("cooking", COOKING, words=8, profile="egocentric")

    assert told(video) == [(e.span.start_ms, e.span.end_ms, e.text) for e in joined(COOKING, 8)]
    assert [frame.ms for frame in video.frames] == [caption.span.start_ms for caption in COOKING]
    assert told(index(tmp_path).of_long_events("cooking", COOKING, words=1_000, profile="egocentric")) == [
        (0, 18_000, "C opens the tap. C washes a carrot. the man X cuts the fresh bread with a knife.")
    ]


def test_seconds_that_nobody_described_are_a_gap_and_no_invention(tmp_path: Path) -> None:
    seen = [caption for caption in COOKING if not 6_000 <= caption.span.start_ms < 12_000]
    video = index(tmp_path).of_captions("cooking", seen, profile="general")

    gaps = [chunk for chunk in video.chunks if chunk.description is None]
    assert [(chunk.span.start_ms, chunk.gap) for chunk in gaps] == [(6_000, "no_captions"), (9_000, "no_captions")]
    assert "carrot" not in " ".join(summary for _, _, summary in told(video))
    assert index(tmp_path).of_captions("nothing", [], profile="general").events == []


def test_entities_take_part_in_the_events_that_name_them(tmp_path: Path) -> None:
    again = [*COOKING, *captions(("", 18), ("C turns off the tap", 6))[18:]]
    video = index(tmp_path).of_captions("cooking", again, profile="general")

    graph = InMemoryGraph([video])
    facts = {record.event.summary: {fact.text for fact in graph.facts([record.event.id])} for record in video.events}
    assert facts["C washes a carrot."] == {"carrot (thing), participant"}
    cutting = facts["the man X cuts the fresh bread with a knife."]
    assert {"fresh bread (thing), participant", "knife (thing), participant"} <= cutting
    assert "fresh bread with knife" in cutting
    taps = [record for record in video.events if any(m.mention.name == "tap" for m in record.mentions)]
    assert len({mention.entity_id for record in taps for mention in record.mentions}) == 1
    assert len(taps) == 2


def test_a_sentence_gives_its_noun_phrases_and_the_words_that_join_them() -> None:
    found = extracted("The tall man in a red coat is feeding the small dog near a pond. The small dog barks")

    assert [m.name for m in found.mentions] == ["tall man", "red coat", "small dog", "pond", "small dog barks"]
    assert [(r.subject, r.predicate, r.object) for r in found.relations] == [
        ("tall man", "in", "red coat"),
        ("red coat", "is feeding", "small dog"),
        ("small dog", "near", "pond"),
    ]
    assert extracted("nothing is seen") == extracted("")
    # A verb ends a phrase, unless it begins the phrase.
    assert [m.name for m in extracted("the man walking in the cutting board").mentions] == ["man", "cutting board"]


def test_sentences_with_their_own_spans_stand_as_they_are(tmp_path: Path) -> None:
    sentences = [
        Sentence(Span(0, 9_000), "Somebody cuts the fresh bread."),
        Sentence(Span(4_000, 6_000), "He eats the fresh bread."),
    ]
    video = index(tmp_path).of_events("tape-0", sentences)

    assert told(video) == [(0, 9_000, "Somebody cuts the fresh bread."), (4_000, 6_000, "He eats the fresh bread.")]
    first, second = video.events
    graph = InMemoryGraph([video])
    assert [hit.event_id for hit in graph.events_sharing_entities([first.event.id], limit=5)] == [second.event.id]


@pytest.mark.parametrize("form", ["captions", "events"])
def test_an_index_is_made_once_and_read_the_same(tmp_path: Path, form: str) -> None:
    def made(name: str, sentences: Sequence[Sentence], embedder: CountedEmbedder) -> MemoryVideo:
        where = index(tmp_path, embedder)
        if form == "events":
            return where.of_events(name, sentences)
        return where.of_captions(name, sentences, profile="general")

    first, second, other = CountedEmbedder(), CountedEmbedder(), CountedEmbedder()
    fresh, kept = made("one", COOKING, first), made("one", COOKING, second)

    assert first.calls > 0
    assert second.calls == 0
    assert told(kept) == told(fresh)
    assert kept.video_id == fresh.video_id
    for a, b in zip(fresh.events, kept.events, strict=True):
        assert a.event.id == b.event.id
        assert np.array_equal(a.event.embedding, b.event.embedding)
        assert [m.entity_id for m in a.mentions] == [m.entity_id for m in b.mentions]
    made("one", COOKING[:-1], other)
    assert other.calls > 0, "other captions are another index"
    assert not list(tmp_path.glob("*.part"))


# --- what methods read from captions -------------------------------------------------------------------------------


def test_topics_and_an_overview_are_written_over_captions(tmp_path: Path) -> None:
    video = index(tmp_path).of_captions("cooking", COOKING, profile="egocentric")
    graph = InMemoryGraph([video])

    topics, overview = graph.topics(video.video_id), graph.overview(video.video_id)

    assert topics[0].span.start_ms == 0
    assert topics[-1].span.end_ms == 18_000
    assert overview is not None
    assert overview.until_ms == 18_000
    query = ViewQuery(embed("tap, carrot and bread"), 5)
    assert {hit.view for hit in graph.search_views({"topic": query}, floor=-1.0)["topic"]} == {"topic"}
    long = index(tmp_path).of_long_events("cooking", COOKING, words=8, profile="egocentric")
    assert InMemoryGraph([long]).overview(long.video_id) is not None


def test_nothing_speaks_and_nothing_is_tracked(tmp_path: Path) -> None:
    graph = InMemoryGraph([index(tmp_path).of_captions("cooking", COOKING, profile="egocentric")])

    assert graph.lines_containing(["tap"], limit=5) == []
    assert list(graph.objects(limit=5)) == []


def test_a_look_at_a_frame_reads_the_caption_of_its_second(tmp_path: Path) -> None:
    video = index(tmp_path).of_captions("cooking", COOKING, profile="egocentric")
    graph = InMemoryGraph([video])
    frames = graph.frames_between(video.video_id, Span(5_000, 7_000), limit=9)
    evidence = frame_evidence(graph, frames, list(graph.load_events([f.event_id for f in frames]).values()))
    asked: list[Request] = []

    def reply(request: Request) -> str:
        asked.append(request)
        return "{}"

    checker = CaptionChecker(ScriptedReasoner(reply))
    checker.check(CheckRequest("What is washed?", (), (), evidence), n=1, schema={}, meter=Meter())
    checker.observe(ObserveRequest("What?", "washing", "", (), evidence), schema={}, meter=Meter())

    for request in asked:
        assert "C opens the tap" in request.text
        assert "C washes a carrot" in request.text
        assert "bread" not in request.text
    assert not checker.sees
    assert checker.name.startswith("captions read by ")
    with pytest.raises(ModelError, match="no measurement"):
        checker.check(CheckRequest("What?", (), (), ()), n=1, schema={}, meter=Meter())
