"""The official files of public video benchmarks, read as manifests.

LVBench, Video-MME and CinePile are also published as Parquet; write its rows as JSON lines first
(docs/lab/video-benchmarks.md). Files that belong to a question file are looked for next to it.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from bench.evaluation.videos.manifest import UnreadableManifest, VideoQuestion, json_lines, read_lines, seconds
from gpu_workers.engine.ekg import Span

_CLOCK = re.compile(r"\d+(?::\d+){1,2}")
_STATED = re.compile(r"\n\s*\(([A-Z])\)\s*")
_LETTERED = re.compile(r"^\(?([A-Z])\)?[.):]\s*")


def read_questions(name: str, path: Path) -> list[VideoQuestion]:
    """Return the questions of a file of this format. Raises UnreadableManifest."""
    try:
        questions = list(FORMATS[name](path))
    except UnreadableManifest:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, OSError) as error:
        raise UnreadableManifest(f"{path} is no file of {name}: {type(error).__name__}: {error}") from error
    if not questions:
        raise UnreadableManifest(f"{path} holds no question of {name} that has a known answer")
    return questions


def lvbench(path: Path) -> Iterator[VideoQuestion]:
    """Read video_info.meta.jsonl: one video a line, its choices in the text of each question."""
    for video in json_lines(path):
        for row in video["qa"]:
            text, *parts = _STATED.split(row["question"])
            choices = tuple(part.strip() for part in parts[1::2])
            yield VideoQuestion(
                f"lvbench-{row['uid']}",
                str(video["key"]),
                text.strip(),
                choices,
                _letter(row["answer"], choices),
                "+".join(row["question_type"]),
                clock_spans(row.get("time_reference", "")),
            )


def videomme(path: Path) -> Iterator[VideoQuestion]:
    """Read the long videos (30 to 60 minutes) of Video-MME."""
    for row in json_lines(path):
        if row["duration"] == "long":
            choices = _unlettered(row["options"])
            truth = _letter(row["answer"], choices)
            yield VideoQuestion(
                f"videomme-{row['question_id']}", row["videoID"], row["question"], choices, truth, row["task_type"]
            )


def ava100(path: Path) -> Iterator[VideoQuestion]:
    """Read one of AVA-100's four files (ego, citytour, wildlife, traffic), or all of a folder."""
    profiles = {"ego": "egocentric", "citytour": "city", "wildlife": "wildlife", "traffic": "traffic"}
    for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
        for video in json_lines(file):
            for row in video["qa"]:
                choices = _unlettered(row["options"])
                yield VideoQuestion(
                    f"{video['video_key']}-{row['question_id']}",
                    video["video_key"],
                    row["query"],
                    choices,
                    _letter(row["answer"], choices),
                    file.stem,
                    clock_spans(row.get("time_reference", "")),
                    profiles.get(file.stem, "general"),
                )


def egoschema(path: Path) -> Iterator[VideoQuestion]:
    """Read questions.json with subset_answers.json next to it; the other questions have no published answer."""
    answers = json.loads((path.parent / "subset_answers.json").read_text(encoding="utf-8"))
    for row in json_lines(path):
        if row["q_uid"] in answers:
            choices = tuple(row[f"option {n}"] for n in range(5))
            yield VideoQuestion(
                row["q_uid"], row["q_uid"], row["question"], choices, int(answers[row["q_uid"]]), profile="egocentric"
            )


def nextqa(path: Path) -> Iterator[VideoQuestion]:
    """Read val.csv or test.csv of NExT-QA (multiple choice) or NExT-GQA. NExT-GQA has the answer's words, and spans in
    gsub_*.json next to it."""
    spans = {
        key: video for file in path.parent.glob("gsub_*.json") for key, video in json.loads(file.read_text()).items()
    }
    with path.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            video, choices = row.get("video") or row["video_id"], tuple(row[f"a{n}"] for n in range(5))
            answer = row["answer"]
            marked = spans.get(video, {}).get("location", {}).get(row["qid"], [])
            yield VideoQuestion(
                f"{video}-{row['qid']}",
                video,
                row["question"],
                choices,
                int(answer) if answer.isdigit() and answer not in choices else choices.index(answer),
                row["type"],
                tuple(seconds(start, end) for start, end in marked),
            )


def ego4d_nlq(path: Path) -> Iterator[VideoQuestion]:
    """Read nlq_val.json: questions in words whose answer is a time range of a clip, so that citations are measured."""
    for video in json.loads(path.read_text(encoding="utf-8"))["videos"]:
        for clip in video["clips"]:
            for annotation in clip["annotations"]:
                for n, row in enumerate(annotation["language_queries"]):
                    if row.get("query"):
                        yield VideoQuestion(
                            f"{annotation['annotation_uid']}-{n}",
                            clip["clip_uid"],
                            row["query"],
                            kind=row.get("template") or "",
                            spans=(seconds(row["clip_start_sec"], row["clip_end_sec"]),),
                            profile="egocentric",
                        )


def cinepile(path: Path) -> Iterator[VideoQuestion]:
    """Read rows of CinePile. A video is named by its id on YouTube."""
    for n, row in enumerate(json_lines(path)):
        video = row.get("videoID") or _youtube_id(row["yt_clip_link"])
        yield VideoQuestion(
            f"{video}-{n}",
            video,
            row["question"],
            tuple(row["choices"]),
            int(row["answer_key_position"]),
            row["question_category"],
        )


FORMATS: Mapping[str, Callable[[Path], Iterable[VideoQuestion]]] = {
    "manifest": read_lines,
    "lvbench": lvbench,
    "videomme": videomme,
    "ava100": ava100,
    "egoschema": egoschema,
    "nextqa": nextqa,
    "ego4d_nlq": ego4d_nlq,
    "cinepile": cinepile,
}


def clock_spans(text: str) -> tuple[Span, ...]:
    """Return the spans of a time reference such as "00:15-00:19", "1:27:35" (its second) or "4:53:45, 4:54:43"; none
    of one without a time, such as "N/A"."""
    spans = []
    for part in text.split(","):
        found = [_clock_seconds(clock) for clock in _CLOCK.findall(part)]
        if found:
            spans.append(seconds(found[0], max(found[0] + 1, found[-1])))
    return tuple(spans)


def _clock_seconds(clock: str) -> int:
    total = 0
    for part in clock.split(":"):
        total = 60 * total + int(part)
    return total


def _unlettered(options: Sequence[str]) -> tuple[str, ...]:
    """Return options without their letters: "A. Snowing" becomes "Snowing"."""
    return tuple(_LETTERED.sub("", option.strip()) for option in options)


def _letter(answer: str, choices: Sequence[str]) -> int:
    index = ord(answer.strip()[:1].upper() or "?") - ord("A")
    if not 0 <= index < len(choices):
        raise ValueError(f"answer {answer!r} is none of {len(choices)} choices")
    return index


def _youtube_id(link: str) -> str:
    parts = urlsplit(link)
    return parse_qs(parts.query).get("v", [parts.path.rsplit("/", 1)[-1]])[0]
