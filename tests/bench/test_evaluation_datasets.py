"""The sets that the evaluation reads from a folder, and its errors about a folder that it cannot read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.evaluation.datasets import Tape, TapeQuery, UnreadableSet, read_choices, read_tape
from gpu_workers.engine.ekg import Span
from tests.bench.question_sets import (
    ACTIVITYNET,
    EGOSCHEMA,
    NEXTQA,
    SPANS,
    TACOS,
    annotated,
    egoschema_row,
    nextqa_row,
    written,
)
from tests.shared_data import SHARED_DATA, needs

REAL = SHARED_DATA / "text"


def test_egoschema_has_a_caption_a_second_without_its_speaker_mark(tmp_path: Path) -> None:
    read = read_choices("egoschema", written(tmp_path, egoschema_dev=EGOSCHEMA))

    assert (read.name, read.profile) == ("egoschema", "egocentric")
    kitchen = read.captions["kitchen"]
    assert [caption.text for caption in kitchen[::6]] == [
        "C opens the tap", "C washes a carrot", "the man X cuts bread with a knife",
    ]  # fmt: skip
    assert [caption.span for caption in kitchen] == [Span(1000 * n, 1000 * n + 1000) for n in range(18)]
    first = read.questions[0]
    assert (first.id, first.video, first.text, first.truth) == ("kitchen", "kitchen", "What is washed?", 0)
    assert first.choices == ("a carrot", "a shirt", "a car", "a dog", "a window")
    assert (first.kind, first.spans) == ("", ())
    assert [question.truth for question in read.questions] == [0, 1, 2]


def test_a_second_without_a_caption_is_left_out(tmp_path: Path) -> None:
    row = egoschema_row(["#C C waits", "", "#C C sits on a #unsure"], "What?", ["a", "b", "c", "d", "e"], 4)
    read = read_choices("egoschema", written(tmp_path, egoschema={"one": row}))

    assert [(c.span.start_ms, c.text) for c in read.captions["one"]] == [(0, "C waits"), (2000, "C sits on a #unsure")]


def test_nextqa_has_types_and_the_spans_of_its_second_file(tmp_path: Path) -> None:
    read = read_choices("nextqa", written(tmp_path / "both", nextqa_dev=NEXTQA, nextgqa_spans_dev=SPANS))
    alone = read_choices("nextqa", written(tmp_path / "alone", nextqa_dev=NEXTQA))

    assert read.profile == "general"
    assert [caption.text for caption in read.captions["11"]] == [
        "A dog walks around a green container.", "The dog bends down.", "The dog drinks.",
    ]  # fmt: skip
    assert [(q.id, q.kind, q.truth) for q in read.questions] == [("11-4", "CW", 1), ("22-0", "TN", 3)]
    assert [question.spans for question in read.questions] == [(Span(1000, 2500),), ()]
    assert [question.spans for question in alone.questions] == [(), ()]


def test_two_files_of_one_set_are_one_set(tmp_path: Path) -> None:
    rows = dict(EGOSCHEMA)
    rest = {"workshop": rows.pop("workshop")}
    ego = read_choices("egoschema", written(tmp_path, egoschema_dev=rows, egoschema_test=rest))
    assert [question.id for question in ego.questions] == ["kitchen", "garden", "workshop"]

    first = {"captions": {"11": NEXTQA["captions"]["11"]}, "questions": NEXTQA["questions"][:1]}
    second = {"captions": {"22": NEXTQA["captions"]["22"]}, "questions": NEXTQA["questions"][1:]}
    folder = written(tmp_path / "next", nextqa_dev=first, nextqa_val=second)
    assert read_choices("nextqa", folder) == read_choices("nextqa", written(tmp_path / "whole", nextqa=NEXTQA))


def test_activitynet_is_one_tape_of_videos_that_two_people_described(tmp_path: Path) -> None:
    folder = written(tmp_path, activitynet_dev=ACTIVITYNET)
    tapes = {seed: read_tape("activitynet", folder, seed=seed) for seed in range(8)}

    for tape in tapes.values():
        assert (tape.name, tape.criterion, tape.duration_ms) == ("activitynet", "iou", 90_000)
        assert sorted(event.text for event in tape.events) == [
            "A boat leaves the harbour.", "A girl plays the piano.", "Two men catch a fish.",
        ]  # fmt: skip
        assert list(tape.events) == sorted(tape.events, key=lambda event: event.span)
        assert sorted(query.id for query in tape.queries) == ["v_boat-0", "v_boat-1", "v_piano-0"]
    starts = {tape.events[0].text: tape for tape in tapes.values()}
    assert set(starts) == {"A boat leaves the harbour.", "A girl plays the piano."}, "the seed decides the order"
    queries = {query.id: query.span for query in starts["A girl plays the piano."].queries}
    assert queries["v_boat-0"] == Span(31_000, 49_500)
    assert queries["v_piano-0"] == Span(2_000, 10_000)
    assert tapes[3] == read_tape("activitynet", folder, seed=3)


def test_a_tape_ends_after_ten_hours(tmp_path: Path) -> None:
    row = {name: annotated(7200.0, [[0, 10]], ["Somebody waits."]) for name in ("annotator_1", "annotator_2")}
    tape = read_tape("activitynet", written(tmp_path, activitynet={f"v{n}": row for n in range(9)}), seed=0)

    assert (tape.duration_ms, len(tape.queries)) == (36_000_000, 5)


def test_tacos_takes_the_first_pass_for_its_index_and_asks_the_others(tmp_path: Path) -> None:
    tape = read_tape("tacos", written(tmp_path, tacos_val=TACOS), seed=0)

    assert (tape.criterion, tape.duration_ms) == ("overlap", 20_000)
    assert {event.text for event in tape.events} == {"He takes a knife.", "He peels garlic.", "She washes beans."}
    queries = {query.id: query for query in tape.queries}
    # A pass begins where a sentence starts earlier than the sentence before it: the last is a pass of its own.
    assert {key: query.text for key, query in queries.items()} == {
        "s1.avi-0": "A knife is taken.",
        "s1.avi-1": "Garlic is peeled.",
        "s1.avi-2": "He cooks.",
        "s2.avi-0": "Beans are washed.",
    }
    event = next(event for event in tape.events if event.text == "He peels garlic.")
    assert queries["s1.avi-1"].span == Span(event.span.start_ms + 1_000, event.span.end_ms)


def test_a_span_answers_a_query_by_half_of_the_union_or_by_any_overlap() -> None:
    query = TapeQuery("q", "?", Span(10_000, 20_000))

    def answers(criterion: Any, start: int, end: int) -> bool:
        return Tape("t", criterion, (), (query,), 30_000).answers(Span(start, end), query)

    assert [answers("iou", *span) for span in ((10_000, 15_000), (10_000, 14_999), (0, 20_000), (0, 20_001))] == [
        True, False, True, False,
    ]  # fmt: skip
    assert [answers("overlap", *span) for span in ((19_999, 30_000), (20_000, 30_000), (0, 10_000))] == [
        True, False, False,
    ]  # fmt: skip


def of_choices(name: str) -> Callable[[Path], object]:
    return lambda folder: read_choices(name, folder)


def of_tape(name: str) -> Callable[[Path], object]:
    return lambda folder: read_tape(name, folder, seed=0)


def changed(body: Any, **fields: Any) -> Any:
    return {**body, **fields}


UNREADABLE = {
    "no such file": (of_choices("egoschema"), {"nextqa": NEXTQA}),
    "no JSON": (of_choices("egoschema"), {"egoschema": "{"}),
    "a list": (of_choices("egoschema"), {"egoschema": "[]"}),
    "no captions": (of_choices("egoschema"), {"egoschema": {"one": {"question": {}}}}),
    "no choice": (of_choices("egoschema"), {"egoschema": {"one": egoschema_row([], "What?", ["a"], 0)}}),
    "no such choice": (of_choices("egoschema"), {"egoschema": {"one": egoschema_row([], "What?", list("abcde"), 5)}}),
    "a truth in words": (of_choices("egoschema"), {"egoschema": {"one": egoschema_row([], "?", list("abcde"), "b?")}}),
    "an answer that is no choice": (
        of_choices("nextqa"),
        {"nextqa": changed(NEXTQA, questions=[nextqa_row("11", 1, "what", list("abcde"), "f", "TN")])},
    ),
    "a second in words": (of_choices("nextqa"), {"nextqa": changed(NEXTQA, captions={"11": {"first": "A dog."}})}),
    "no tape": (of_tape("tacos"), {"activitynet": ACTIVITYNET}),
    "more sentences than times": (
        of_tape("tacos"),
        {"tacos": {"s1": {"timestamps": [[0, 1]], "sentences": ["a", "b"], "fps": 10, "num_frames": 10}}},
    ),
    "no frame rate": (of_tape("tacos"), {"tacos": {"s1": changed(TACOS["s1.avi"], fps=0)}}),
    "no sentence": (of_tape("tacos"), {"tacos": {"s1": changed(TACOS["s1.avi"], timestamps=[], sentences=[])}}),
    "no duration": (
        of_tape("activitynet"),
        {"activitynet": {"v": {"annotator_1": {"timestamps": [], "sentences": []}, "annotator_2": {}}}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", UNREADABLE)
def test_a_file_of_another_form_is_reported_with_its_folder(tmp_path: Path, case: str) -> None:
    read, files = UNREADABLE[case]

    with pytest.raises(UnreadableSet) as told:
        read(written(tmp_path / "set", **files))

    assert str(tmp_path / "set") in str(told.value)


@needs(REAL)
def test_the_public_sets_are_read_whole() -> None:
    sizes = {name: len(read_choices(name, REAL).questions) for name in ("egoschema", "nextqa")}
    tapes = {name: read_tape(name, REAL, seed=0) for name in ("activitynet", "tacos")}

    assert min(sizes.values()) >= 200
    for name in ("egoschema", "nextqa"):
        read = read_choices(name, REAL)
        assert all(read.captions[question.video] for question in read.questions)
        assert all(len(set(question.choices)) > 1 for question in read.questions)
    assert any(question.spans for question in read_choices("nextqa", REAL).questions)
    for tape in tapes.values():
        assert tape.duration_ms > 3_600_000
        assert all(0 <= query.span.start_ms < query.span.end_ms for query in tape.queries)
        assert len(tape.queries) > 500
