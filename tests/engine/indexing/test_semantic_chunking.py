from __future__ import annotations

import tracemalloc
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_workers.engine.ekg import Chunk
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


def test_an_event_has_at_most_eight_chunks() -> None:
    groups = groups_of(chunks_of(*["a b"] * 20))
    assert [len(group) for group in groups] == [8, 8, 4]


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
        assert len(chunker.pending) <= 8
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
    cuts=st.sets(st.integers(0, 30)),
)
def test_resuming_anywhere_gives_the_same_events(
    texts: list[str | None], threshold: float, maximum: int, cuts: set[int]
) -> None:
    chunks = chunks_of(*texts)
    whole = SemanticChunker(ScriptedSimilarity(), threshold, maximum)
    expected = numbers([*whole.extend(chunks), *whole.flush()])

    found: list[list[int]] = []
    chunker = SemanticChunker(ScriptedSimilarity(), threshold, maximum)
    for c in chunks:
        if c.n in cuts:
            pending = chunker.pending
            chunker = SemanticChunker(ScriptedSimilarity(), threshold, maximum)
            assert chunker.extend(pending) == []
        found += numbers(chunker.push(c))
    found += numbers(chunker.flush())

    assert found == expected
    assert [n for group in found for n in group] == list(range(len(chunks))), "each chunk once, in order"
    assert all(1 <= len(group) <= maximum for group in found)
    assert all(len({chunks[n].gap for n in group}) == 1 for group in found)
