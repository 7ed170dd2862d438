"""A manifest: questions about video files, one JSON object a line.

    {"video": "gate.mp4", "question": "Who opens it?", "choices": ["a guard", "a driver"], "truth": 0, "kind": "who",
     "spans": [[61, 70]]}

video: name or stem of a file. truth: index of the right choice; for an open question its words, or null where a person
judges. spans: seconds in which the answer is seen. Optional: id, profile (general without one), choices, kind, spans.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_workers.engine.answering.contract import MAX_CHOICES
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.prompts import PROFILES

SUFFIXES = frozenset({".mp4", ".mkv", ".webm", ".avi", ".mov", ".m4v", ".ts", ".mpg", ".mpeg"})


class UnreadableManifest(ValueError):
    """The manifest has another form, or names a video that the folder does not hold."""


@dataclass(frozen=True, slots=True)
class VideoQuestion:
    """A question about one video. video: its stem. truth: index of a choice, words of an open answer, None if a person
    judges or only spans are known. spans: where the answer is seen; empty if nobody marked it."""

    id: str
    video: str
    text: str
    choices: tuple[str, ...] = ()
    truth: int | str | None = None
    kind: str = ""
    spans: tuple[Span, ...] = ()
    profile: str = "general"

    def __post_init__(self) -> None:
        if not self.text.strip() or not self.video:
            raise UnreadableManifest(f"question {self.id!r} lacks its words or its video")
        if self.choices and not 2 <= len(self.choices) <= MAX_CHOICES:
            raise UnreadableManifest(f"question {self.id!r} has {len(self.choices)} choices, not 2 to {MAX_CHOICES}")
        if self.choices and not (isinstance(self.truth, int) and 0 <= self.truth < len(self.choices)):
            raise UnreadableManifest(f"question {self.id!r} has {self.truth!r} for the index of its right choice")
        if self.profile not in PROFILES:
            raise UnreadableManifest(f"no profile {self.profile!r}; there are {', '.join(PROFILES)}")


def read_lines(path: Path) -> list[VideoQuestion]:
    """Return the questions of a manifest. Raises UnreadableManifest."""
    return [_question(row, number) for number, row in enumerate(json_lines(path), start=1)]


def json_lines(path: Path) -> list[Any]:
    """Return the objects of a file of JSON lines, or of one JSON array. Raises UnreadableManifest."""
    try:
        text = path.read_text(encoding="utf-8")
        if text.lstrip().startswith("["):
            rows: list[Any] = json.loads(text)
            return rows
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise UnreadableManifest(f"{path}: {error}") from error


def seconds(start: float, end: float) -> Span:
    """Return the span of two seconds, at least 1 ms long."""
    begin = max(0, round(1000 * start))
    return Span(begin, max(begin + 1, round(1000 * end)))


def videos_in(folder: Path) -> dict[str, Path]:
    """Return the video files below a folder by their stems."""
    files = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in SUFFIXES]
    return {path.stem: path for path in reversed(files)}


def with_files(questions: Iterable[VideoQuestion], folder: Path) -> dict[str, Path]:
    """Return the file of each video that is asked about. Raises UnreadableManifest if one is missing."""
    files, wanted = videos_in(folder), sorted({question.video for question in questions})
    if missing := [video for video in wanted if video not in files]:
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise UnreadableManifest(f"{folder} lacks the videos {', '.join(missing[:5])}{more}")
    return {video: files[video] for video in wanted}


def shard(questions: Sequence[VideoQuestion], number: int, of: int) -> list[VideoQuestion]:
    """Return the questions of one worker, from 1 to `of`. All questions of a video are the same worker's."""
    videos = sorted({question.video for question in questions})
    mine = {video for position, video in enumerate(videos) if position % of == number - 1}
    return [question for question in questions if question.video in mine]


def _question(row: Mapping[str, Any], number: int) -> VideoQuestion:
    try:
        video = Path(str(row["video"])).stem
        return VideoQuestion(
            str(row.get("id") or f"{video}-{number}"),
            video,
            str(row["question"]),
            tuple(map(str, row.get("choices") or ())),
            row.get("truth"),
            str(row.get("kind") or ""),
            tuple(seconds(float(start), float(end)) for start, end in row.get("spans") or ()),
            str(row.get("profile") or "general"),
        )
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise UnreadableManifest(f"line {number}: {type(error).__name__}: {error}") from error
