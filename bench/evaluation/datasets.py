"""Question sets read from a folder: captions with choice questions, or timed sentences joined to one long tape.

A folder holds one or several sets, in files whose names begin with the set's: egoschema*.json, nextqa*.json (with
nextgqa_spans*.json), activitynet*.json, tacos*.json. Several files of one set are read as one.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from gpu_workers.engine.ekg import Span

CHOICE_SETS = ("egoschema", "nextqa")
TAPE_SETS = ("activitynet", "tacos")
TAPE10 = "tape10"
"""The set that is made and not read (bench.evaluation.tape10)."""
SETS = (*CHOICE_SETS, *TAPE_SETS, TAPE10)
TAPE_HOURS = 10.0
Set = TypeVar("Set")


class Identified(Protocol):
    @property
    def id(self) -> str: ...


Item = TypeVar("Item", bound=Identified)


class UnreadableSet(ValueError):
    """The folder does not hold the set, or a file of the set has another form."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence about what is seen in span."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """A question with choices. truth: index of the right choice. kind: the set's own question type, "" if it has none.
    spans: where a person saw the answer; empty if nobody marked it."""

    id: str
    video: str
    text: str
    choices: tuple[str, ...]
    truth: int
    kind: str = ""
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class ChoiceSet:
    """A set of choice questions. captions: by video, in time order. profile: the scenario that the engine gets."""

    name: str
    profile: str
    captions: Mapping[str, tuple[Sentence, ...]]
    questions: tuple[ChoiceQuestion, ...]


@dataclass(frozen=True, slots=True)
class TapeQuery:
    id: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Tape:
    """Videos one after another. events: one annotator's sentences, in time order. queries: another annotator's.

    criterion: the condition for a span to answer a query: iou (intersection over union of at least 0.5) or overlap
    (any).
    """

    name: str
    criterion: Literal["iou", "overlap"]
    events: tuple[Sentence, ...]
    queries: tuple[TapeQuery, ...]
    duration_ms: int

    def answers(self, span: Span, query: TapeQuery) -> bool:
        shared = min(span.end_ms, query.span.end_ms) - max(span.start_ms, query.span.start_ms)
        if self.criterion == "overlap":
            return shared > 0
        hull = max(span.end_ms, query.span.end_ms) - min(span.start_ms, query.span.start_ms)
        return shared >= 0.5 * hull


def read_choices(name: str, folder: Path) -> ChoiceSet:
    """Read a set of choice questions. Raises UnreadableSet."""
    return _checked(_egoschema if name == "egoschema" else _nextqa, name, folder)


def read_tape(name: str, folder: Path, *, seed: int) -> Tape:
    """Join the set's videos in an order that seed decides: ten hours of ActivityNet, all of TACoS.

    Raises UnreadableSet.
    """
    return _checked(lambda where: (_activitynet if name == "activitynet" else _tacos)(where, seed), name, folder)


def first_items(items: Sequence[Item], limit: int | None, *, seed: int) -> list[Item]:
    """Return all items, or limit items by the digest of seed and id: a longer run contains a shorter run's items."""
    order = sorted(items, key=lambda item: hashlib.sha256(f"{seed} {item.id}".encode()).digest())
    return order if limit is None else order[:limit]


def _checked(read: Callable[[Path], Set], name: str, folder: Path) -> Set:
    try:
        return read(folder)
    except UnreadableSet:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ZeroDivisionError, OSError) as error:
        raise UnreadableSet(f"{name} in {folder} has another form: {type(error).__name__}: {error}") from error


def _files(folder: Path, prefix: str) -> dict[str, Any]:
    """Return the objects of all files of one set, merged."""
    paths = sorted(folder.glob(f"{prefix}*.json"))
    if not paths:
        raise UnreadableSet(f"{folder} holds no {prefix}*.json")
    merged: dict[str, Any] = {}
    for path in paths:
        for key, value in json.loads(path.read_text()).items():
            if isinstance(merged.get(key), dict) and isinstance(value, dict):
                merged[key] |= value
            elif isinstance(merged.get(key), list) and isinstance(value, list):
                merged[key] += value
            else:
                merged[key] = value
    return merged


# --- choice questions over captions --------------------------------------------------------------------------------


def _egoschema(folder: Path) -> ChoiceSet:
    """Read one caption per second; "#C C" is the camera wearer, "#O" another person."""
    rows = _files(folder, "egoschema")
    captions, questions = {}, []
    for key, row in rows.items():
        captions[key] = tuple(_seconds(enumerate(map(_plain_caption, row["captions"]))))
        fields = row["question"]
        choices = tuple(str(fields[f"option {n}"]) for n in range(5))
        if not 0 <= int(fields["truth"]) < len(choices):
            raise ValueError(f"question {key} has choice {fields['truth']} for its truth")
        questions.append(ChoiceQuestion(key, key, str(fields["question"]), choices, int(fields["truth"])))
    return ChoiceSet("egoschema", "egocentric", captions, tuple(questions))


def _nextqa(folder: Path) -> ChoiceSet:
    """Read one long caption per second, questions with a type, and a person's spans if there is a file of spans."""
    rows = _files(folder, "nextqa")
    spans = _files(folder, "nextgqa_spans") if any(folder.glob("nextgqa_spans*.json")) else {}
    captions = {
        video: tuple(_seconds(sorted((int(second), str(text)) for second, text in texts.items())))
        for video, texts in rows["captions"].items()
    }
    questions = []
    for row in rows["questions"]:
        video, number = str(row["video_id"]), str(row["qid"])
        if video not in captions:
            continue
        choices = tuple(str(row[f"a{n}"]) for n in range(5))
        marked = spans.get(video, {}).get("location", {}).get(number, [])
        questions.append(
            ChoiceQuestion(
                f"{video}-{number}",
                video,
                str(row["question"]),
                choices,
                choices.index(str(row["answer"])),
                str(row["type"]),
                tuple(_span(start, end) for start, end in marked if end > start),
            )
        )
    return ChoiceSet("nextqa", "general", captions, tuple(questions))


def _plain_caption(text: str) -> str:
    """Return the caption without its speaker mark: "#C C opens the tap" becomes "C opens the tap"."""
    words = re.sub(r"^#\s*[A-Za-z]+\s*", "", text.strip())
    return re.sub(r"\bC C\b", "C", words).strip()


def _seconds(texts: Iterable[tuple[int, str]]) -> Iterator[Sentence]:
    return (Sentence(Span(1000 * second, 1000 * second + 1000), text) for second, text in texts if text)


def _span(start_s: float, end_s: float, *, from_ms: int = 0) -> Span:
    start = from_ms + round(1000 * start_s)
    return Span(start, max(start + 1, from_ms + round(1000 * end_s)))


# --- timed sentences on a tape -------------------------------------------------------------------------------------


def _activitynet(folder: Path, seed: int) -> Tape:
    """Read the first annotator's sentences as the index, the second annotator's as the queries."""
    rows = _files(folder, "activitynet")
    names = sorted(name for name, row in rows.items() if {"annotator_1", "annotator_2"} <= set(row))
    random.Random(seed).shuffle(names)
    events: list[Sentence] = []
    queries: list[TapeQuery] = []
    at = 0
    for name in names:
        first, second = rows[name]["annotator_1"], rows[name]["annotator_2"]
        events += _timed(first["timestamps"], first["sentences"], from_ms=at)
        sentences = _timed(second["timestamps"], second["sentences"], from_ms=at)
        queries += [TapeQuery(f"{name}-{n}", query.text, query.span) for n, query in enumerate(sentences)]
        at += round(1000 * float(first["duration"]))
        if at >= TAPE_HOURS * 3_600_000:
            break
    return Tape("activitynet", "iou", _in_order(events), tuple(queries), at)


def annotated_videos(folder: Path, limit: int) -> list[tuple[str, list[Sentence], list[Sentence]]]:
    """Return the name and both annotators' sentences of at most limit ActivityNet videos, in an order of seed 0."""
    rows = _files(folder, "activitynet")
    names = sorted(name for name, row in rows.items() if {"annotator_1", "annotator_2"} <= set(row))
    random.Random(0).shuffle(names)

    def sentences(row: Mapping[str, Any]) -> list[Sentence]:
        return _timed(row["timestamps"], row["sentences"], from_ms=0)

    return [
        (name, sentences(rows[name]["annotator_1"]), sentences(rows[name]["annotator_2"])) for name in names[:limit]
    ]


def _tacos(folder: Path, seed: int) -> Tape:
    """Read about 18 annotators' passes over each video: the first is the index, all others are queries."""
    rows = _files(folder, "tacos")
    names = sorted(rows)
    random.Random(seed).shuffle(names)
    events: list[Sentence] = []
    queries: list[TapeQuery] = []
    at = 0
    for name in names:
        row = rows[name]
        fps = float(row["fps"])
        stamps = [(start / fps, end / fps) for start, end in row["timestamps"]]
        sentences = _timed(stamps, row["sentences"], from_ms=at)
        passes = list(_passes(sentences))
        events += passes[0]
        rest = [sentence for later in passes[1:] for sentence in later]
        queries += [TapeQuery(f"{name}-{n}", query.text, query.span) for n, query in enumerate(rest)]
        at += round(1000 * row["num_frames"] / fps)
    return Tape("tacos", "overlap", _in_order(events), tuple(queries), at)


def _timed(stamps: Sequence[Sequence[float]], sentences: Sequence[str], *, from_ms: int) -> list[Sentence]:
    pairs = zip(stamps, sentences, strict=True)
    return [Sentence(_span(start, end, from_ms=from_ms), text.strip()) for (start, end), text in pairs if text.strip()]


def _passes(sentences: Sequence[Sentence]) -> Iterator[list[Sentence]]:
    """Yield the passes. A new pass starts at each sentence that begins earlier than the sentence before it."""
    current: list[Sentence] = []
    for sentence in sentences:
        if current and sentence.span.start_ms < current[-1].span.start_ms:
            yield current
            current = []
        current.append(sentence)
    if current:
        yield current


def _in_order(events: Sequence[Sentence]) -> tuple[Sentence, ...]:
    return tuple(sorted(events, key=lambda event: (event.span, event.text)))
