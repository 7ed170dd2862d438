from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_workers.engine.ekg import CHUNK_MS, Chunk, Span, TranscriptLine
from gpu_workers.engine.indexing.semantic_chunking import SemanticChunker
from tests.engine.indexing.scripted import ScriptedSimilarity, chunk

WORDS = ("a b c d", "a b c e", "a b f e", "g h i j", "g h i k", "", "x")


def chunks_of(*texts: str | None) -> list[Chunk]:
    return [chunk(n, text, gap="decode_error" if text is None else None) for n, text in enumerate(texts)]


def numbers(groups: Sequence[Sequence[Chunk]]) -> list[list[int]]:
    return [[c.n for c in group] for group in groups]


def groups_of(chunks: Sequence[Chunk], threshold: float = 0.5) -> list[list[int]]:
    chunker = SemanticChunker(ScriptedSimilarity(), threshold)
    return numbers([*chunker.extend(chunks), *chunker.flush()])


def test_every_pair_of_an_event_scores_at_least_the_threshold() -> None:
    # Dice: 0-1 is 0.75, 1-2 is 0.75, 0-2 is 0.5.
    drifting = chunks_of("a b c d", "a b c e", "a b f e")
    assert groups_of(drifting, 0.5) == [[0, 1, 2]]
    assert groups_of(drifting, 0.51) == [[0, 1], [2]]


def test_a_chunk_that_fits_its_neighbour_but_not_the_event_begins_another() -> None:
    # 3 fits 2 (0.75) but not 0 and 1.
    assert groups_of(chunks_of("a b c d", "a b c d", "a b c e", "a b e f"), 0.6) == [[0, 1, 2], [3]]


def test_scores_are_rescaled_by_the_baseline() -> None:
    pair = chunks_of("a b c d", "a b e f")  # Dice 0.5; with a baseline of 0.4 that is 0.167
    chunker = SemanticChunker(ScriptedSimilarity(baseline=0.4), 0.2)
    assert numbers([*chunker.extend(pair), *chunker.flush()]) == [[0], [1]]
    chunker = SemanticChunker(ScriptedSimilarity(baseline=0.4), 0.15)
    assert numbers([*chunker.extend(pair), *chunker.flush()]) == [[0, 1]]


def test_gaps_form_events_of_their_own() -> None:
    assert groups_of(chunks_of("a b", "a b", None, None, "a b")) == [[0, 1], [2, 3], [4]]


def test_gaps_of_different_causes_are_different_events() -> None:
    gaps = [chunk(0, gap="refused"), chunk(1, gap="decode_error")]
    assert groups_of(gaps) == [[0], [1]]


def test_an_event_that_changes_has_at_most_eight_chunks() -> None:
    groups = groups_of(chunks_of(*["a b c d", "a b c e"] * 10))
    assert [len(group) for group in groups] == [8, 8, 4]


def test_an_hour_of_one_picture_is_a_few_long_events() -> None:
    groups = groups_of(chunks_of(*["an empty car park"] * 1200))
    assert [len(group) for group in groups] == [200] * 6


def test_what_changes_ends_a_long_event_at_once() -> None:
    groups = groups_of(chunks_of(*["an empty car park"] * 50, "a van", *["an empty car park"] * 50))
    assert [len(group) for group in groups] == [50, 1, 50]


def test_slow_changes_end_a_long_event() -> None:
    """Each text is nearly the one before it, but the event ends where one is no longer like the first."""
    words = [f"w{n}" for n in range(40)]
    drifting = [" ".join([f"v{k}" for k in range(min(n // 2, 40))] + words[min(n // 2, 40) :]) for n in range(60)]
    groups = groups_of(chunks_of(*drifting))
    assert max(len(group) for group in groups) < 20


def test_other_words_for_equal_pictures_belong_to_a_long_event() -> None:
    """A describer keeps the description of an unchanged picture in a segment, and finds other words in the next."""
    texts = [("a b c d" if n // 10 % 2 else "a b c e", n % 10 != 0) for n in range(40)]
    chunks = [replace(chunk(n, text), inherited=kept) for n, (text, kept) in enumerate(texts)]
    assert len(groups_of(chunks)) == 1
    assert len(groups_of([replace(c, inherited=False) for c in chunks])) > 2


def test_speech_and_writing_keep_events_short_and_a_running_clock_does_not() -> None:
    def spoken(n: int) -> Chunk:
        line = TranscriptLine(Span(n * CHUNK_MS, (n + 1) * CHUNK_MS), f"sentence {n}")
        return replace(chunk(n, "a talking head"), transcript=(line,))

    assert [len(group) for group in groups_of([spoken(n) for n in range(20)])] == [8, 8, 4]
    slides = [replace(chunk(n, "a slide"), on_screen_text=(f"Chapter {n // 4}",)) for n in range(20)]
    assert [len(group) for group in groups_of(slides)] == [8, 8, 4]
    clocks = [replace(chunk(n, "a street"), on_screen_text=(f"12:{n:02}:07",)) for n in range(20)]
    assert [len(group) for group in groups_of(clocks)] == [20]


def test_a_long_gap_is_one_event_unless_somebody_speaks() -> None:
    assert [len(group) for group in groups_of(chunks_of(*[None] * 100))] == [100]
    line = TranscriptLine(Span(0, CHUNK_MS), "and now the news")
    heard = [replace(chunk(n, gap="no_frames"), transcript=(line,) if n == 10 else ()) for n in range(20)]
    assert [len(group) for group in groups_of(heard)] == [10, 8, 2]


def test_chunks_that_are_not_adjacent_never_merge() -> None:
    assert groups_of([chunk(0), chunk(2)]) == [[0], [2]]


def test_no_chunks_no_groups() -> None:
    chunker = SemanticChunker(ScriptedSimilarity(), 0.5)
    assert chunker.extend([]) == []
    assert chunker.flush() == []
    assert chunker.flush() == []


def test_chunks_out_of_order_are_refused() -> None:
    chunker = SemanticChunker(ScriptedSimilarity(), 0.5)
    chunker.push(chunk(3))
    with pytest.raises(ValueError, match="in order"):
        chunker.push(chunk(3))


def test_each_text_is_encoded_once_and_an_empty_one_never() -> None:
    similarity = ScriptedSimilarity()
    chunker = SemanticChunker(similarity, 0.1)
    for c in chunks_of("a b", "a c", "a b", "", "a d"):
        chunker.push(c)
    assert sorted(similarity.encoded) == ["a b", "a c", "a d"]


def test_a_static_camera_of_ten_hours_costs_a_window() -> None:
    similarity = ScriptedSimilarity()
    chunker = SemanticChunker(similarity, 0.5)
    total = 0
    tracemalloc.start()
    for n in range(12_000):
        total += sum(len(group) for group in chunker.push(chunk(n, "an empty car park at night")))
        assert len(chunker.pending) <= 200
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    total += sum(len(group) for group in chunker.flush())
    assert total == 12_000
    assert similarity.pairs == 0, "equal texts need no model"
    assert peak < 1_000_000


def test_similarities_are_a_band_and_not_a_square() -> None:
    """A chunk is compared with the seven before it only, however long the video is."""
    similarity = ScriptedSimilarity()
    chunker = SemanticChunker(similarity, 0.5)
    for n in range(500):
        chunker.push(chunk(n, f"scene{n} shot{n}"))
    assert len(similarity.encoded) == 500
    assert similarity.pairs <= 500 * 7


@settings(max_examples=150)
@given(
    texts=st.lists(st.sampled_from([*WORDS, None]), max_size=30),
    threshold=st.sampled_from([0.2, 0.5, 0.7]),
    maximum=st.integers(1, 8),
    still=st.integers(1, 12),
    cuts=st.sets(st.integers(0, 30)),
)
def test_resuming_anywhere_gives_the_same_events(
    texts: list[str | None], threshold: float, maximum: int, still: int, cuts: set[int]
) -> None:
    chunks = chunks_of(*texts)
    whole = SemanticChunker(ScriptedSimilarity(), threshold, maximum, max_still_chunks=still)
    expected = numbers([*whole.extend(chunks), *whole.flush()])

    found: list[list[int]] = []
    chunker = SemanticChunker(ScriptedSimilarity(), threshold, maximum, max_still_chunks=still)
    for c in chunks:
        if c.n in cuts:
            pending = chunker.pending
            chunker = SemanticChunker(ScriptedSimilarity(), threshold, maximum, max_still_chunks=still)
            assert chunker.extend(pending) == []
        found += numbers(chunker.push(c))
    found += numbers(chunker.flush())

    assert found == expected
    assert [n for group in found for n in group] == list(range(len(chunks))), "each chunk once, in order"
    assert all(1 <= len(group) <= max(maximum, still) for group in found)
    assert all(len({chunks[n].gap for n in group}) == 1 for group in found)
