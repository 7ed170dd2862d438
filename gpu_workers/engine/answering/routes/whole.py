"""Route `whole`: what a stretch is about, its topics, steps and changes, read from the overview down to the events.

A reasoner with a window for it writes the answer from the parts, and every part that it leaves out is added. A small
one is not asked: the answer is put together from the titles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.asking.rules import without_time
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import Calls, count_prompt
from gpu_workers.engine.answering.context import cut, shares
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.dossier import answer_from
from gpu_workers.engine.answering.routes.ending import Claim, moment_in_words, route_answer
from gpu_workers.engine.answering.routes.parts import Contents, Part, read_contents
from gpu_workers.engine.answering.routes.phrases import phrases_of
from gpu_workers.engine.answering.titles import title_lines, videos_line
from gpu_workers.engine.answering.tools.desk import Desk
from gpu_workers.engine.answering.trail import Trail
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.answering.words import content_words
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.models.served.json_text import read_object, salvaged
from gpu_workers.engine.models.served.structured import list_of, object_of
from gpu_workers.engine.prompts import load

WHOLE_PROMPTS = frozenset({"whole_notes", "whole_answer"})

LEAST_PART_TOKENS = 12
"""Minimum tokens of a part in the prompt; if not all parts have as much room, no model reads them."""

MOST_ITEMS = 40
ANSWER_TOKENS = 1_200
ABOUT_CHARACTERS = 800
"""Maximum number of items of an answer, maximum tokens of a reply, maximum length of an overview in a text."""

_ALL_WORDS = """
video recording footage clip film movie stream tape episode meeting lecture talk session day morning afternoon evening
night hour summarise summarize summary overview recap gist outline about topics topic subjects themes chapters covered
discussed treated shown list steps step by tell explain describe give show name all main key important points events
moments highlights happens happened change changes changed different whole entire everything time order sequence short
brief long table sentence one how many me us you can please now were come up there go goes on over
activities activity after another other next done general places part section sequence
"""
_ABOUT_ALL = content_words(_ALL_WORDS)
"""Stems that narrow a question about the whole of a stretch down to nothing."""


_ABOUT = re.compile(r"\b(?:about|regarding|concerning) (?P<rest>.+)", re.IGNORECASE)
_PLACES = re.compile(r"\b(?:places|locations|rooms|cameras)\b", re.IGNORECASE)

_PLACE = re.compile(r"\b(?:in|at|inside|near|on) (?:the|this|that|my|our) \w+(?: \w+)?\W*$", re.IGNORECASE)
"""A place at the end of a question. What happens there is seldom described with its name."""


@dataclass(frozen=True, slots=True)
class Item:
    """A sentence, line or step of the answer, and the parts that it rests on."""

    text: str
    parts: tuple[Part, ...]


def answer_by_reading(asked: Asked, calls: Calls) -> Answer | None:
    """Return an answer from all that the scope holds. None if it holds no event."""
    desk = Desk(asked, calls)
    if not desk.extents:
        return None
    small = asked.models.calibration.limits.value is not None
    trail = Trail(desk, total=2)
    with calls.timed("whole"):
        with trail.step("read", shape=asked.understood.shape) as step:
            contents = read_contents(desk, small=small)
            step.observation = "\n".join(_line(desk, part) for part in contents.parts)
            step.events = desk.load(event_id for part in contents.parts for event_id in part.events)
        if contents.halted is not None:
            calls.halt(contents.halted)
        if not contents.parts:
            return None
        if asked.question.choices:
            return _chosen(desk, contents, trail)
        about = _subject(desk, contents.parts)
        items: list[Item] = []
        if not small and calls.halted is None and asked.understood.shape != "count":
            with trail.step("compose", shape=asked.understood.shape) as step:
                items = _composed(desk, contents)
                step.observation = "\n".join(item.text for item in items)
    written = bool(items)
    complete = len(about) == len(contents.parts)
    if written and complete:
        items = _with_missing(desk, items, contents.parts)
    items = items or [Item(part.title, (part,)) for part in about]
    return _answer(desk, contents, items, written=written, complete=complete, trail=trail)


def _subject(desk: Desk, parts: Sequence[Part]) -> list[Part]:
    """Return the parts about what the question names beyond the whole: those with a word of what follows "about", or
    with two of its other words. All of them if it names nothing, or if no part has these words."""
    asked, time = desk.asked, desk.asked.understood.time
    words = "" if time is None else time.words
    question = without_time(asked.question.question, time_words=words, remaining=asked.understood.searched)
    question = _PLACE.sub(" ", question.replace(words, " ") if words else question)
    about = _ABOUT.search(question)
    named = content_words(about["rest"]) - _ABOUT_ALL if about else content_words(question) - _ABOUT_ALL
    least = 1 if about else 2
    near = [part for part in parts if len(named & content_words(f"{part.title} {part.text}")) >= least]
    return near or list(parts)


# --- by the reasoner -----------------------------------------------------------------------------------------------


def _composed(desk: Desk, contents: Contents) -> list[Item]:
    """Return the answer as the reasoner writes it, item by item; none if its window does not hold all parts, or if it
    fails."""
    asked, reasoner = desk.asked, desk.asked.models.reasoner
    count = reasoner.count_tokens
    lines = [_line(desk, part) for part in contents.parts]
    room = reasoner.context_tokens - ANSWER_TOKENS - count_prompt(count, _messages(desk, contents, []))
    room = min(room, max(asked.settings.prompt.context_tokens, LEAST_PART_TOKENS * len(lines)))
    given = shares([count(line) + 1 for line in lines], max(0, room))
    if min(given, default=0) < LEAST_PART_TOKENS and sum(map(count, lines)) > room:
        return []
    lines = [line if count(line) <= most else cut(line, count, most) for line, most in zip(lines, given, strict=True)]
    item = object_of({"text": {"type": "string"}, "parts": list_of({"type": "integer"}, MOST_ITEMS)})
    try:
        sample = desk.calls.ask(
            _messages(desk, contents, lines),
            stage="whole",
            meter=desk.meter,
            schema=object_of({"items": list_of(item, MOST_ITEMS)}),
            max_tokens=ANSWER_TOKENS,
            seed=asked.seed_of("whole"),
        )[0]
    except Halt as halt:
        desk.calls.halt(halt)
        return []
    except ModelError:
        return []
    fields = read_object(sample.text) or salvaged(sample.text) or {}
    rows = fields.get("items")
    read = (_item(row, contents.parts) for row in (rows if isinstance(rows, list) else ()))
    return [item for item in read if item is not None]


def _item(row: object, parts: Sequence[Part]) -> Item | None:
    if not isinstance(row, Mapping):
        return None
    numbers = row.get("parts")
    named = [n for n in (numbers if isinstance(numbers, list) else ()) if isinstance(n, int) and 1 <= n <= len(parts)]
    text = as_data(str(row.get("text") or ""))
    return Item(text, tuple(parts[n - 1] for n in dict.fromkeys(named))) if text and named else None


def _messages(desk: Desk, contents: Contents, lines: Sequence[str]) -> list[Message]:
    asked = desk.asked
    prompt = load("whole_answer", asked.question.profile).substitute(
        about=_about_lines(desk, contents) or "none",
        parts="\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1)),
        videos=videos_line(asked.titles),
        question=asked.question.question,
        form=_FORMS[asked.understood.shape],
    )
    return [Message("user", (prompt,))]


_FORMS: Mapping[str, str] = {
    "sentence": "one to three sentences, one item each",
    "summary": "a summary in a few sentences, one item each, that names every topic",
    "list": "a list, one item for each entry, none left out",
    "steps": "the steps or changes in order of time, one item each, none left out",
    "table": "the rows of a table, one item each, in order of time",
    "count": "a number",
}


def _with_missing(desk: Desk, items: Sequence[Item], parts: Sequence[Part]) -> list[Item]:
    """Return the items, and an item for every part that none of them rests on."""
    named = {id(part) for item in items for part in item.parts}
    missing = [Item(part.title, (part,)) for part in parts if id(part) not in named]
    if desk.asked.understood.shape in ("list", "steps", "table"):
        return sorted([*items, *missing], key=lambda item: (item.parts[0].video_id, item.parts[0].span))
    if not missing:
        return list(items)
    more = "; ".join(item.text.rstrip(".") for item in missing)
    return [*items, Item(f"{more}.", tuple(part for item in missing for part in item.parts))]


# --- the answer ----------------------------------------------------------------------------------------------------


def _answer(
    desk: Desk, contents: Contents, items: Sequence[Item], *, written: bool, complete: bool, trail: Trail
) -> Answer:
    share = contents.read / contents.total if contents.total else 0.0
    notes = [f"read from {contents.topics} topics and {contents.read} of {contents.total} events"]
    table = desk.asked.understood.shape == "table"
    claims = [
        Claim(
            item.text,
            tuple(event_id for part in item.parts for event_id in part.events),
            cells=(_when(desk, item.parts[0]), item.text) if table else (),
        )
        for item in items
    ]
    return route_answer(
        desk,
        _text(desk, contents, items, written=written, complete=complete),
        claims,
        head="whole",
        records=trail.records,
        notes=notes,
        degraded=() if contents.topics else ("no_summary",),
        shares={"read": round(min(1.0, share), 4)},
        parts=True,
    )


def _text(desk: Desk, contents: Contents, items: Sequence[Item], *, written: bool, complete: bool) -> str:
    shape, phrases = desk.asked.understood.shape, phrases_of(desk.asked)
    if shape == "table":
        rows = [f"| {_when(desk, item.parts[0])} | {item.text.replace('|', '/')} |" for item in items]
        return "\n".join(["|  |  |", "| --- | --- |", *rows])
    if shape == "steps":
        return "\n".join(
            f"{number}. {item.text.rstrip('.')} ({_when(desk, item.parts[0])})"
            for number, item in enumerate(items, start=1)
        )
    if shape == "list":
        lines = [f"- {item.text.rstrip('.')} ({_when(desk, item.parts[0])})" for item in items]
        asks_places = complete and _PLACES.search(desk.asked.question.question)
        return "\n".join([*(_overviews(desk, contents) if asks_places else []), *lines])
    if written:
        return " ".join(item.text if item.text.endswith((".", "!", "?", "。")) else f"{item.text}." for item in items)
    named = "; ".join(f"{item.text.rstrip('.')} ({_when(desk, item.parts[0])})" for item in items)
    head = (phrases.part if len(items) == 1 else phrases.parts).format(n=len(items))
    about = [] if shape == "count" or not complete else _overviews(desk, contents)
    if about and all(item.text.rstrip(".") in " ".join(about) for item in items):
        return " ".join(about)
    return " ".join([*about, f"{head} {named}."])


def _overviews(desk: Desk, contents: Contents) -> list[str]:
    """Return the overview of each video for a reader, after the video's name if there are several."""
    return [
        f"{desk.video_name(video_id)}: {text[:ABOUT_CHARACTERS]}" if desk.several else text[:ABOUT_CHARACTERS]
        for video_id, text in contents.about.items()
    ]


def _about_lines(desk: Desk, contents: Contents) -> str:
    """Return the overviews for a prompt: of several videos after their titles, each with its video's number."""
    if not desk.several:
        return "\n".join(text[:ABOUT_CHARACTERS] for text in contents.about.values())
    titles = title_lines(desk.numbers, desk.asked.titles, desk.numbers)
    lines = [
        f"Overview of video {desk.numbers[video_id]}: {text[:ABOUT_CHARACTERS]}"
        for video_id, text in contents.about.items()
    ]
    return f"\n{titles}" + "\n".join(lines)


def _when(desk: Desk, part: Part) -> str:
    return moment_in_words(desk, part.video_id, part.span.start_ms)


def _line(desk: Desk, part: Part) -> str:
    text = f": {part.text}" if part.text else ""
    return f"{desk.place(part.video_id, part.span)} {part.title}{text}"


def _chosen(desk: Desk, contents: Contents, trail: Trail) -> Answer:
    """Return the choice that the parts support, drawn like any method's from what was shown."""
    for text in contents.about.values():
        desk.sightings.noted(text)
    for part in contents.parts:
        desk.sightings.noted(_line(desk, part))
    wanted: list[UUID] = [event_id for part in contents.parts for event_id in part.events]
    for event in desk.load(wanted):
        desk.sightings.event(event)
    return answer_from(desk, records=trail.records, top_similarity=0.0, needs=frozenset({"topics"}))
