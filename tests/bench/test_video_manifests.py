"""Manifests of questions about video files, and the official files of public benchmarks read as manifests."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from bench.evaluation.videos.formats import FORMATS, clock_spans, read_questions
from bench.evaluation.videos.manifest import (
    UnreadableManifest,
    VideoQuestion,
    read_lines,
    shard,
    videos_in,
    with_files,
)
from bench.evaluation.videos.verdicts import REAL
from gpu_workers.engine.ekg import Span

GATE = {
    "video": "gate.mp4", "question": "Who opens it?", "choices": ["a guard", "a driver"], "truth": 1, "kind": "who",
    "spans": [[61, 70.5]], "profile": "traffic",
}  # fmt: skip


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def lines(path: Path, *rows: object) -> Path:
    return written(path, "".join(json.dumps(row) + "\n" for row in rows))


def test_a_line_of_a_manifest_is_a_question(tmp_path: Path) -> None:
    path = lines(tmp_path / "own.jsonl", GATE, {"video": "gate", "question": "What is said?", "truth": "stop"})

    assert read_lines(path) == [
        VideoQuestion(
            "gate-1", "gate", "Who opens it?", ("a guard", "a driver"), 1, "who", (Span(61_000, 70_500),), "traffic"
        ),
        VideoQuestion("gate-2", "gate", "What is said?", (), "stop"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"question": " "}, {"video": ""}, {"choices": ["one"]}, {"truth": 2}, {"truth": "a driver"}, {"truth": None},
        {"profile": "underwater"}, {"spans": [[1]]}, {"spans": [["a", "b"]]},
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_asked_names_its_fault(tmp_path: Path, change: dict[str, object]) -> None:
    with pytest.raises(UnreadableManifest):
        read_lines(lines(tmp_path / "own.jsonl", {**GATE, **change}))


def test_a_file_that_is_no_manifest_is_refused(tmp_path: Path) -> None:
    for text in ("not json", '"a word"', "[1]", ""):
        with pytest.raises(UnreadableManifest):
            read_questions("manifest", written(tmp_path / "own.jsonl", text))
    with pytest.raises(UnreadableManifest):
        read_questions("manifest", tmp_path / "nothing.jsonl")


def test_shards_share_no_video_and_leave_none_out() -> None:
    questions = [VideoQuestion(f"{video}-{n}", video, "What?") for video in "abcde" for n in range(3)]

    parts = [shard(questions, number, 3) for number in (1, 2, 3)]

    assert Counter(one.id for part in parts for one in part) == Counter(one.id for one in questions)
    videos = [{one.video for one in part} for part in parts]
    assert videos == [{"a", "d"}, {"b", "e"}, {"c"}]
    assert shard(questions, 1, 1) == questions


def test_videos_are_found_in_folders_by_their_stem(tmp_path: Path) -> None:
    for name in ("a.mp4", "1164/b.MKV", "b.txt"):
        written(tmp_path / name, "")

    assert videos_in(tmp_path) == {"a": tmp_path / "a.mp4", "b": tmp_path / "1164/b.MKV"}
    assert set(with_files([VideoQuestion("1", "b", "What?")], tmp_path)) == {"b"}
    with pytest.raises(UnreadableManifest, match="lacks the videos c"):
        with_files([VideoQuestion("1", "c", "What?")], tmp_path)


# --- official files, each with entries of our own in the official form ----------------------------------------------


def test_lvbench_states_choices_in_its_question(tmp_path: Path) -> None:
    row = {
        "key": "tube1", "type": "tv",
        "qa": [
            {"uid": "7", "question": "Where (roughly) is it?\n(A) in a shop\n(B) at sea\n(C) here", "answer": "B",
             "question_type": ["entity recognition", "reasoning"], "time_reference": "00:15-01:10"},
        ],
    }  # fmt: skip
    expected = VideoQuestion(
        "lvbench-7", "tube1", "Where (roughly) is it?", ("in a shop", "at sea", "here"), 1,
        "entity recognition+reasoning", (Span(15_000, 70_000),),
    )  # fmt: skip

    assert read_questions("lvbench", lines(tmp_path / "video_info.meta.jsonl", row)) == [expected]
    assert read_questions("lvbench", written(tmp_path / "LVBench.json", json.dumps([row]))) == [expected]


def test_of_videomme_the_long_videos_are_read(tmp_path: Path) -> None:
    row = {
        "video_id": "601", "duration": "long", "domain": "Sport", "videoID": "tube2", "question_id": "601-1",
        "task_type": "Counting Problem", "question": "How many goals?", "options": ["A. One.", "B. Two."],
        "answer": "B",
    }  # fmt: skip
    path = written(tmp_path / "VideoMME.json", json.dumps([row, {**row, "duration": "short", "question_id": "1-1"}]))

    assert read_questions("videomme", path) == [
        VideoQuestion("videomme-601-1", "tube2", "How many goals?", ("One.", "Two."), 1, "Counting Problem")
    ]


def test_ava100_is_read_by_file_or_by_folder(tmp_path: Path) -> None:
    asked = {"question_id": 0, "query": "Which bird?", "options": ["A. owl", "B. A. crow"], "answer": "A"}
    video = {"video_id": 1, "video_key": "wildlife1", "qa": [{**asked, "time_reference": "06:27:42 - 06:31:00"}]}
    path = written(tmp_path / "wildlife.json", json.dumps([video]))
    written(tmp_path / "ego.json", json.dumps([{"video_key": "ego1", "qa": [{**asked, "time_reference": "N/A "}]}]))

    expected = VideoQuestion(
        "wildlife1-0", "wildlife1", "Which bird?", ("owl", "A. crow"), 0, "wildlife",
        (Span(23_262_000, 23_460_000),), "wildlife",
    )  # fmt: skip
    assert read_questions("ava100", path) == [expected]
    both = read_questions("ava100", tmp_path)
    assert [(one.id, one.profile, len(one.spans)) for one in both] == [
        ("ego1-0", "egocentric", 0), ("wildlife1-0", "wildlife", 1),
    ]  # fmt: skip


def test_of_egoschema_questions_with_a_published_answer_are_read(tmp_path: Path) -> None:
    row = {
        "q_uid": "u1",
        "google_drive_id": "g",
        "question": "What is C's aim?",
        **{f"option {n}": f"aim {n}" for n in range(5)},
    }
    written(tmp_path / "subset_answers.json", json.dumps({"u1": 3}))
    path = written(tmp_path / "questions.json", json.dumps([row, {**row, "q_uid": "u2"}]))

    (question,) = read_questions("egoschema", path)

    assert (question.id, question.video, question.truth, question.profile) == ("u1", "u1", 3, "egocentric")
    assert question.choices == tuple(f"aim {n}" for n in range(5))


@pytest.mark.parametrize(("column", "answer"), [("video", "2"), ("video_id", "a cat")])
def test_nextqa_has_an_index_and_nextgqa_the_words_and_spans(tmp_path: Path, column: str, answer: str) -> None:
    path = written(
        tmp_path / "val.csv",
        f"{column},frame_count,width,height,question,answer,qid,type,a0,a1,a2,a3,a4\n"
        f'401,300,640,480,"who, then, sleeps",{answer},6,CW,a dog,a man,a cat,a boy,a girl\n',
    )
    if column == "video_id":
        written(tmp_path / "gsub_val.json", json.dumps({"401": {"location": {"6": [[1.5, 4], [6, 8]]}}}))

    (question,) = read_questions("nextqa", path)

    assert (question.id, question.text, question.truth, question.kind) == ("401-6", "who, then, sleeps", 2, "CW")
    assert question.spans == ((Span(1500, 4000), Span(6000, 8000)) if column == "video_id" else ())


def test_a_choice_of_nextqa_that_is_a_number_is_no_index(tmp_path: Path) -> None:
    head = "video_id,frame_count,width,height,question,answer,qid,type,a0,a1,a2,a3,a4\n"
    path = written(tmp_path / "test.csv", head + "401,300,640,480,how many,2,1,DC,1,3,4,2,5\n")

    assert read_questions("nextqa", path)[0].truth == 3


def test_ego4d_asks_for_a_time_range_of_a_clip(tmp_path: Path) -> None:
    query = {"clip_start_sec": 10.5, "clip_end_sec": 12, "video_start_sec": 70.5, "video_end_sec": 72,
             "template": "Objects: Where is object X?", "query": "Where was the cup?"}  # fmt: skip
    annotation = {"annotation_uid": "n1", "language_queries": [query, {**query, "query": None}]}
    clip = {"clip_uid": "c1", "annotations": [annotation]}
    path = written(tmp_path / "nlq_val.json", json.dumps({"videos": [{"video_uid": "v1", "clips": [clip]}]}))

    assert read_questions("ego4d_nlq", path) == [
        VideoQuestion(
            "n1-0", "c1", "Where was the cup?", (), None, "Objects: Where is object X?", (Span(10_500, 12_000),),
            "egocentric",
        )
    ]  # fmt: skip


def test_cinepile_names_a_video_by_its_link(tmp_path: Path) -> None:
    row = {"movie_name": "A Film", "yt_clip_link": "https://www.youtube.com/watch?v=tube3&t=1", "question": "Who?",
           "choices": ["Ann", "Bob", "Cy", "Di", "Ed"], "answer_key": "Cy", "answer_key_position": 2,
           "question_category": "Character and Relationship Dynamics"}  # fmt: skip

    first, second = read_questions("cinepile", lines(tmp_path / "test.jsonl", row, {**row, "videoID": "tube4"}))

    assert (first.id, first.video, first.truth, first.kind) == (
        "tube3-0", "tube3", 2, "Character and Relationship Dynamics",
    )  # fmt: skip
    assert (second.id, second.video) == ("tube4-1", "tube4")


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"manifest"}))
def test_a_file_of_another_form_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnreadableManifest):
        read_questions(name, lines(tmp_path / "own.jsonl", GATE))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("00:15-00:19", [(15, 19)]),
        ("1:27:35", [(5255, 5256)]),
        ("4:53:45,4:54:43", [(17_625, 17_626), (17_683, 17_684)]),
        ("08:05:52 - 08:16:00", [(29_152, 29_760)]),
        ("N/A", []),
        ("", []),
    ],
)
def test_a_time_reference_is_spans(text: str, expected: list[tuple[int, int]]) -> None:
    assert clock_spans(text) == tuple(Span(1000 * start, 1000 * end) for start, end in expected)


# --- our own questions about the real recordings --------------------------------------------------------------------


def test_thirty_choice_questions_and_sixty_open_ones_are_about_the_real_recordings() -> None:
    folder = REAL.parent
    choices, open_ones = (read_lines(folder / name) for name in ("real_choices.jsonl", "real_open.jsonl"))

    assert len(choices) == 30
    assert all(one.spans and one.kind and len(one.choices) == 4 for one in choices)
    assert max(Counter(one.truth for one in choices).values()) <= 8, "no position of the right choice is preferred"
    assert Counter(one.kind for one in open_ones) == {"first": 30, "second": 30}
    assert {one.video for one in choices} == {one.video for one in open_ones}
    judged = json.loads(REAL.read_text())
    asked = {(one.video, one.text) for one in open_ones}
    assert {(video, text) for said in judged.values() for video, texts in said.items() for text in texts} <= asked
