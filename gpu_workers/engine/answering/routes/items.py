"""The items of an answer about the whole: as the reasoner writes them from the parts, or the parts' own titles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import count_prompt
from gpu_workers.engine.answering.context import fitted, shares
from gpu_workers.engine.answering.parsing import indices_of
from gpu_workers.engine.answering.routes.parts import MOST_PARTS, Part, brief
from gpu_workers.engine.answering.understood import Shape
from gpu_workers.engine.answering.wording import as_data, language_line, title_lines, videos_line
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.models.served.structured import list_of, object_of, rows_of
from gpu_workers.engine.prompts import load
from gpu_workers.engine.retrieval.frames import evenly

LEAST_PART_TOKENS = 12
"""Minimum tokens of a part in the prompt; if not all parts have as much room, evenly spread ones are shown."""

MOST_ITEMS = 40
ANSWER_TOKENS = 1_200
"""Maximum number of items that the reasoner writes, and maximum tokens of its reply."""

MOST_SHOWN = MOST_PARTS
"""Maximum number of items of an answer; more are counted."""

ABOUT_CHARACTERS = 800
"""Maximum length of the overview of an only video."""

ALL_ABOUT_CHARACTERS, LEAST_ABOUT_CHARACTERS = 4_000, 160
"""Maximum length of the overviews of several videos together, and of each where there are many."""


@dataclass(frozen=True, slots=True)
class Item:
    """A sentence, line or step of the answer, and the parts that it rests on. written: by the reasoner for this
    question; else it is the title of its part."""

    text: str
    parts: tuple[Part, ...]
    written: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """items: as the reasoner wrote them, none if it failed. shown: number of parts that it read."""

    items: tuple[Item, ...] = ()
    shown: int = 0


def written_items(toolbox: Toolbox, parts: Sequence[Part], about: Mapping[UUID, str]) -> Written:
    """Return the answer as the reasoner writes it from the parts, item by item. about: the overviews of the videos,
    empty if the parts hold them. Raises neither Halt nor ModelError."""
    asked, reasoner = toolbox.asked, toolbox.asked.models.reasoner
    count = reasoner.count_tokens
    room = reasoner.context_tokens - ANSWER_TOKENS - count_prompt(count, _messages(toolbox, about, parts, []))
    room = min(room, max(asked.settings.prompt.context_tokens, LEAST_PART_TOKENS * len(parts)))
    if room < LEAST_PART_TOKENS:
        return Written()
    lines = [part_line(toolbox, part) for part in parts]
    if sum(map(count, lines)) + len(lines) > room:
        parts = [parts[index] for index in evenly(len(parts), room // LEAST_PART_TOKENS)]
        lines = [part_line(toolbox, part) for part in parts]
    given = shares([count(line) + 1 for line in lines], room)
    lines = [fitted(line, count, most) for line, most in zip(lines, given, strict=True)]
    item = object_of({"text": {"type": "string"}, "parts": list_of({"type": "integer"}, MOST_ITEMS)})
    try:
        sample = toolbox.calls.ask(
            _messages(toolbox, about, parts, lines),
            stage="whole",
            meter=toolbox.meter,
            schema=object_of({"items": list_of(item, MOST_ITEMS)}),
            max_tokens=ANSWER_TOKENS,
            seed=asked.seed_of("whole"),
        )[0]
    except Halt as halt:
        toolbox.calls.halt(halt)
        return Written()
    except ModelError:
        return Written()
    read = (_item(row, parts) for row in rows_of(sample.text, "items"))
    return Written(tuple(item for item in read if item is not None), len(parts))


def _item(row: object, parts: Sequence[Part]) -> Item | None:
    if not isinstance(row, Mapping):
        return None
    named = tuple(parts[index] for index in indices_of(row.get("parts"), len(parts)))
    text = as_data(str(row.get("text") or ""))
    return Item(text, named, written=True) if text and named else None


def _messages(
    toolbox: Toolbox, about: Mapping[UUID, str], parts: Sequence[Part], lines: Sequence[str]
) -> list[Message]:
    asked = toolbox.asked
    language = language_line(asked.answer_language)
    prompt = load("whole_answer", asked.question.profile).substitute(
        about=_about_lines(toolbox, about, parts) or "none",
        parts="\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1)),
        videos=videos_line(asked.titles),
        question=asked.question.question,
        form=_FORMS[asked.understood.shape],
        language=f" {language}" if language else "",
    )
    return [Message("user", (prompt,))]


_FORMS: Mapping[Shape, str] = {
    "sentence": "one to three sentences, one item each",
    "summary": "a summary in a few sentences, one item each, that names every topic",
    "list": "a list, one item for each entry, none left out",
    "steps": "the steps or changes in order of time, one item each, none left out",
    "table": "the rows of a table, one item each, in order of time",
    "count": "a number",
}


def with_missing(toolbox: Toolbox, items: Sequence[Item], parts: Sequence[Part]) -> tuple[list[Item], int]:
    """Return the items and one for each part that none of them rests on, at most MOST_SHOWN in all, and the number of
    parts for which there was no room. Lists, steps and tables are in order of time."""
    named = {id(part) for item in items for part in item.parts}
    missing = [Item(part.title, (part,)) for part in parts if id(part) not in named]
    shown = [missing[index] for index in evenly(len(missing), max(0, MOST_SHOWN - len(items)))]
    every = [*items, *shown]
    if toolbox.asked.understood.shape in ("list", "steps", "table"):
        every.sort(key=lambda item: (item.parts[0].video_id, item.parts[0].span))
    return every, len(missing) - len(shown)


def part_line(toolbox: Toolbox, part: Part) -> str:
    """Return a part as a line of a prompt: when it is, its title and its text. A part for a whole video has the video's
    title instead of its number."""
    text = f": {part.text}" if part.text else ""
    return f"{toolbox.place(part.video_id, part.span, titled=part.video)} {part.title}{text}"


def overviews(toolbox: Toolbox, about: Mapping[UUID, str]) -> list[str]:
    """Return the overview of each video for a reader, after the video's name if there are several."""
    return [
        f"{toolbox.video_name(video_id)}: {text}" if toolbox.several else text for video_id, text in _cut(about).items()
    ]


def _about_lines(toolbox: Toolbox, about: Mapping[UUID, str], parts: Sequence[Part]) -> str:
    """Return the overviews for a prompt: of several videos after their titles, each with its video's number."""
    texts = _cut(about)
    if not toolbox.several:
        return "\n".join(texts.values())
    titles = title_lines(toolbox.numbers, toolbox.asked.titles, {part.video_id for part in parts if not part.video})
    return f"\n{titles}" + "\n".join(f"Overview of video {toolbox.numbers[one]}: {text}" for one, text in texts.items())


def _cut(about: Mapping[UUID, str]) -> dict[UUID, str]:
    each = min(ABOUT_CHARACTERS, max(LEAST_ABOUT_CHARACTERS, ALL_ABOUT_CHARACTERS // max(1, len(about))))
    return {video_id: brief(text, each) for video_id, text in about.items()}
