"""The items of an answer about the whole: what the reasoner writes from the parts, or the parts' own titles, each
checked against events of its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from uuid import UUID

from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.calls import count_prompt
from gpu_workers.engine.answering.context import fitted, shares
from gpu_workers.engine.answering.contract import CitationRecord, ClaimRecord
from gpu_workers.engine.answering.ending.claims import CheckedStatement, Evidence, Statement, cite
from gpu_workers.engine.answering.ending.evidence import Checks, find_evidence
from gpu_workers.engine.answering.ending.final_answer import without_contradictions
from gpu_workers.engine.answering.parsing import indices_of
from gpu_workers.engine.answering.routes.parts import MOST_PARTS, Part, brief, few
from gpu_workers.engine.answering.routes.result import MOST_CLAIMS_CITED, middle_frames, node_of
from gpu_workers.engine.answering.understood import Shape
from gpu_workers.engine.answering.wording import as_data, language_line, videos_line
from gpu_workers.engine.languages.words import content_words
from gpu_workers.engine.models.roles import Message
from gpu_workers.engine.models.served.structured import list_of, object_of, rows_of
from gpu_workers.engine.ports import StoredEvent
from gpu_workers.engine.prompts import load

LEAST_PART_TOKENS = 12
"""Minimum tokens of a part in the prompt; if not all parts have as much room, evenly spread ones are shown."""

MOST_ITEMS, ANSWER_TOKENS = 40, 1_200
"""Maximum number of items that the reasoner writes, and maximum tokens of its reply."""

MOST_SHOWN = MOST_PARTS
"""Maximum number of items of an answer; more are counted."""

ABOUT_CHARACTERS, ALL_ABOUT_CHARACTERS, LEAST_ABOUT_CHARACTERS = 800, 4_000, 160
"""Maximum length of the overview of an only video, of the overviews of several together, and of each of many."""

UNCHECKED = CheckedStatement("", {})


@dataclass(frozen=True, slots=True)
class Item:
    """A sentence, line or step of the answer, and the parts that it rests on. written: by the reasoner for this
    question; else it is the title of its part. checked: what the events that are cited for it say about it."""

    text: str
    parts: tuple[Part, ...]
    written: bool = False
    checked: CheckedStatement = UNCHECKED

    @property
    def contradicted(self) -> bool:
        return self.checked.status == "contradicted"


# --- what the reasoner writes --------------------------------------------------------------------------------------

_FORMS: Mapping[Shape, str] = {
    "sentence": "one to three sentences, one item each",
    "summary": "a summary in a few sentences, one item each, that names every topic",
    "list": "a list, one item for each entry, none left out",
    "steps": "the steps or changes in order of time, one item each, none left out",
    "table": "the rows of a table, one item each, in order of time",
}


def written_items(toolbox: Toolbox, parts: Sequence[Part], about: Sequence[str]) -> tuple[list[Item], int]:
    """Return the answer as the reasoner writes it from the parts, item by item, none if it failed, and the number of
    parts that it read. about: the overviews of the videos, empty if the parts hold them. Raises neither Halt nor
    ModelError."""
    asked, reasoner = toolbox.asked, toolbox.asked.models.reasoner
    count = reasoner.count_tokens
    room = reasoner.context_tokens - ANSWER_TOKENS - count_prompt(count, _messages(toolbox, about, []))
    room = min(room, max(asked.settings.prompt.context_tokens, LEAST_PART_TOKENS * len(parts)))
    if room < LEAST_PART_TOKENS:
        return [], 0
    lines = [part_line(toolbox, part) for part in parts]
    if sum(map(count, lines)) + len(lines) > room:
        parts = few(parts, room // LEAST_PART_TOKENS)
        lines = [part_line(toolbox, part) for part in parts]
    given = shares([count(line) + 1 for line in lines], room)
    lines = [fitted(line, count, most) for line, most in zip(lines, given, strict=True)]
    item = object_of({"text": {"type": "string"}, "parts": list_of({"type": "integer"}, MOST_ITEMS)})
    reply = toolbox.calls.ask_once(
        _messages(toolbox, about, lines),
        stage="whole",
        schema=object_of({"items": list_of(item, MOST_ITEMS)}),
        max_tokens=ANSWER_TOKENS,
        seed=asked.seed_of("whole"),
    )
    if reply is None:
        return [], 0
    return [made for row in rows_of(reply, "items") if (made := _item(row, parts))], len(parts)


def _item(row: object, parts: Sequence[Part]) -> Item | None:
    if not isinstance(row, Mapping):
        return None
    named = tuple(parts[index] for index in indices_of(row.get("parts"), len(parts)))
    text = as_data(str(row.get("text") or ""))
    return Item(text, named, written=True) if text and named else None


def _messages(toolbox: Toolbox, about: Sequence[str], lines: Sequence[str]) -> list[Message]:
    asked = toolbox.asked
    language = language_line(asked.answer_language)
    prompt = load("whole_answer", asked.question.profile).substitute(
        about="\n".join(about) or "none",
        parts="\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1)),
        videos=videos_line(asked.titles),
        question=asked.question.question,
        form=_FORMS[asked.understood.shape],
        language=f" {language}" if language else "",
    )
    return [Message("user", (prompt,))]


def part_line(toolbox: Toolbox, part: Part) -> str:
    """Return a part as a line of a prompt: the title of its video if there are several, its time, title and text."""
    text = f": {part.text}" if part.text else ""
    return f"{toolbox.place(part.video_id, part.span, titled=True)} {part.title}{text}"


def overviews(toolbox: Toolbox, about: Mapping[UUID, str]) -> list[str]:
    """Return the overview of each video, shortened, after the video's name if there are several."""
    each = min(ABOUT_CHARACTERS, max(LEAST_ABOUT_CHARACTERS, ALL_ABOUT_CHARACTERS // max(1, len(about))))
    names = {video_id: f"{toolbox.video_name(video_id)}: " if toolbox.several else "" for video_id in about}
    return [f"{names[video_id]}{brief(text, each)}" for video_id, text in about.items()]


def with_missing(toolbox: Toolbox, items: Sequence[Item], parts: Sequence[Part]) -> tuple[list[Item], int]:
    """Return the items and one for each part that none of them rests on, at most MOST_SHOWN in all, and the number of
    parts for which there was no room. Lists, steps and tables are in order of time."""
    named = {id(part) for item in items for part in item.parts}
    missing = [Item(part.title, (part,)) for part in parts if id(part) not in named]
    shown = few(missing, max(0, MOST_SHOWN - len(items)))
    every = [*items, *shown]
    if toolbox.asked.understood.shape in ("list", "steps", "table"):
        every.sort(key=lambda item: (item.parts[0].video_id, item.parts[0].span))
    return every, len(missing) - len(shown)


# --- what their events say -----------------------------------------------------------------------------------------


def checked_items(toolbox: Toolbox, items: Sequence[Item]) -> list[Item]:
    """Return the items, those that were not checked yet with the verdicts of events that are cited for them.

    The title of a part is not contradicted by one of its events: another may be as the title says.
    """
    new = [item for item in items if item.checked is UNCHECKED]
    if not new:
        return list(items)
    ids = (event_id for item in new for part in item.parts for event_id in part.events)
    events = {event.id: event for event in toolbox.load(ids)}
    statements = [Statement(item.text, cited) for item, cited in zip(new, _cited(new, events), strict=True)]
    node = node_of({event_id: events[event_id] for one in statements for event_id in one.cited or ()}.values())
    checks = Checks(reasoner=any(item.written for item in new), frames=False, best_frames=False)
    whole = " ".join(item.text for item in new)
    with toolbox.calls.timed("citations"):
        evidence = find_evidence(toolbox.asked, toolbox.calls, node, statements, whole=whole, checks=checks)
    done = iter(evidence.statements)
    return [replace(item, checked=_of(item, next(done))) if item.checked is UNCHECKED else item for item in items]


def corrected_items(toolbox: Toolbox, items: Sequence[Item]) -> tuple[list[Item], list[str]]:
    """Return the items after one revision of those that their events contradict, and what was done. An item that is
    still contradicted keeps that status."""
    wrong = {index: item.checked for index, item in enumerate(items) if item.contradicted}
    if not wrong or not toolbox.asked.settings.prompt.revise:
        return list(items), []
    node = node_of(toolbox.load(event_id for one in wrong.values() for event_id in one.statuses))
    first = Evidence(tuple(item.checked for item in items), {})
    evidence, notes = without_contradictions(toolbox.asked, toolbox.calls, node, first, wrong)
    return [
        replace(item, text=now.text, checked=now) for item, now in zip(items, evidence.statements, strict=True)
    ], notes


def evidence_of(toolbox: Toolbox, items: Sequence[Item]) -> tuple[tuple[CitationRecord, ...], tuple[ClaimRecord, ...]]:
    """Return the citations of checked items, strongest first, and a claim for each item."""
    events = toolbox.load(event_id for item in items for event_id in item.checked.statuses)
    evidence = Evidence(tuple(item.checked for item in items), middle_frames(toolbox, events))
    return cite(toolbox.asked, node_of(events), evidence)


def _cited(items: Sequence[Item], events: Mapping[UUID, StoredEvent]) -> list[tuple[UUID, ...]]:
    """Return the events to cite for each item: of each of its parts the one that shares most words with it. At most
    MOST_CLAIMS_CITED, one for each item first."""
    words = {event_id: content_words(event.summary) for event_id, event in events.items()}

    def best(item: Item, part: Part) -> UUID | None:
        own, rest = content_words(item.text), content_words(f"{part.title} {part.text}")
        there = (event_id for event_id in part.events if event_id in words)
        return max(there, key=lambda one: (len(own & words[one]), len(rest & words[one])), default=None)

    found = [list(filter(None, (best(item, part) for part in item.parts))) for item in items]
    in_turn = sorted((turn, index) for index, own in enumerate(found) for turn in range(len(own)))
    links = dict.fromkeys((index, found[index][turn]) for turn, index in in_turn)
    cited: list[dict[UUID, None]] = [{} for _ in items]
    for index, event_id in islice(links, MOST_CLAIMS_CITED):
        cited[index][event_id] = None
    return [tuple(own) for own in cited]


def _of(item: Item, checked: CheckedStatement) -> CheckedStatement:
    if item.written:
        return checked
    statuses = {
        event_id: "unverified" if status == "contradicted" else status for event_id, status in checked.statuses.items()
    }
    return replace(checked, statuses=statuses)
