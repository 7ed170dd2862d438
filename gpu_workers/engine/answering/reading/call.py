"""The one call by which a capable reasoner reads a question. It sees the customer's words, the questions asked before
and the titles of the videos: never text of a video, never an earlier answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.reading.forms import TIMES_SCHEMA, NamedTime, time_of_reply
from gpu_workers.engine.answering.understood import (
    ROUTES,
    Comparison,
    Counting,
    Polarity,
    Said,
    SearchWords,
    Shape,
    Subject,
)
from gpu_workers.engine.answering.wording import as_data, choice_lines, shortened, without_tags
from gpu_workers.engine.languages.codes import CODES
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.models.served.structured import list_of, object_of, read_object, text_of
from gpu_workers.engine.prompts import load

STAGE = "read"
REPLY_TOKENS = 700
TEXT_CHARACTERS, WORDS_CHARACTERS = 600, 200
"""Maximum length of a question in a reply, and of its other texts."""

REPLY_CHARACTERS = 4_000
"""Maximum length of an unusable reply in the second request."""

MOST_TITLES = 26
"""Maximum number of titles that the reasoner sees. In a larger scope a title is only found in full (reading.titles)."""

MOST_EARLIER = 4
"""Number of the last questions of a conversation that the reasoner sees."""

_CHOSEN: Mapping[str, Sequence[str]] = {
    "route": ROUTES,
    "shape": get_args(Shape),
    "polarity": get_args(Polarity),
    "said": get_args(Said),
    "counting": get_args(Counting),
    "comparison": get_args(Comparison),
    "subject": get_args(Subject),
}
_TEXTS = ("search", "keywords", "entity", "scene", "statement", "exact", "counted")


@dataclass(frozen=True, slots=True)
class Reply:
    """What the reasoner read: the fields of the prompt read_question, checked. chosen: those with fixed values."""

    language: str
    question: str
    search: str
    words: SearchWords
    choices: tuple[str, ...]
    chosen: Mapping[str, Any]
    sure: bool
    statement: str
    exact: str
    counted: str
    topic: tuple[str, ...]
    time: NamedTime
    videos: tuple[UUID, ...]


class _Unusable(ValueError):
    """The reply breaks the schema; the message says how."""


def ask_to_read(asked: Asked, calls: Calls) -> Reply | None:
    """Return what the reasoner reads in the question; None if the call fails, or if its reply and the reply to a second
    request cannot be used. May raise Halt."""
    titles = _titles(asked)
    messages = [Message("user", (_prompt(asked, titles),))]
    schema = _schema(titles, choices=len(asked.question.choices))
    for again in (False, True):
        try:
            with calls.timed(STAGE):
                text = calls.ask(
                    messages,
                    stage=STAGE,
                    meter=calls.meter,
                    schema=schema,
                    max_tokens=REPLY_TOKENS,
                    seed=asked.seed_of(f"{STAGE}/again" if again else STAGE),
                )[0].text
        except ModelError:
            return None
        try:
            return _checked(asked, read_object(text), titles)
        except _Unusable as problem:
            request = load("read_again").substitute(problem=problem)
            messages += [Message("assistant", (without_tags(text)[:REPLY_CHARACTERS],)), Message("user", (request,))]
    return None


def _prompt(asked: Asked, titles: Mapping[str, UUID]) -> str:
    question = asked.question
    earlier = [as_data(turn.question)[:TEXT_CHARACTERS] for turn in question.history[-MOST_EARLIER:]]
    lines = [f"{letter}: {shortened(asked.recordings[video].title)}" for letter, video in titles.items()]
    return load("read_question", question.profile).substitute(
        question=as_data(question.question),
        earlier=_fenced("Questions asked before it:", earlier),
        choices=_fenced("\nOptions:", choice_lines([as_data(choice) for choice in question.choices]).splitlines()),
        titles=_fenced("\nTitles of the videos:", lines),
    )


def _fenced(head: str, lines: Sequence[str]) -> str:
    return "\n".join([head, "<text>", *lines, "</text>", ""]) if lines else ""


def _titles(asked: Asked) -> dict[str, UUID]:
    """Return the videos with a title by a letter each; none for a single video, or for more than there are letters."""
    titled = [video for video, recording in sorted(asked.recordings.items()) if recording.title.strip()]
    if len(asked.recordings) < 2 or len(titled) > MOST_TITLES:
        return {}
    return {chr(ord("A") + n): video for n, video in enumerate(titled)}


def _schema(titles: Mapping[str, UUID], *, choices: int) -> dict[str, Any]:
    words = text_of(WORDS_CHARACTERS)
    chosen = {name: {"type": "string", "enum": list(values)} for name, values in _CHOSEN.items()}
    letter = {"type": "string", "enum": list(titles)} if titles else text_of(1)
    return object_of(
        {
            "language": text_of(2),
            "question": text_of(TEXT_CHARACTERS),
            "search": text_of(TEXT_CHARACTERS),
            "keywords": words,
            "entity": words,
            "scene": words,
            "choices": list_of(text_of(TEXT_CHARACTERS), choices),
            "route": chosen["route"],
            "sure": {"type": "boolean"},
            "shape": chosen["shape"],
            "statement": words,
            "polarity": chosen["polarity"],
            "said": chosen["said"],
            "exact": words,
            "counted": words,
            "counting": chosen["counting"],
            "comparison": chosen["comparison"],
            "topic": list_of(words, 4),
            "subject": chosen["subject"],
            "times": TIMES_SCHEMA,
            "videos": list_of(letter, len(titles)),
        }
    )


def _checked(asked: Asked, fields: Mapping[str, Any] | None, titles: Mapping[str, UUID]) -> Reply:
    """Return a reply as data. Raises _Unusable."""
    if fields is None:
        raise _Unusable("it is no JSON object")
    chosen = {name: _one_of(fields, name, values) for name, values in _CHOSEN.items()}
    texts = {name: _text(fields, name, WORDS_CHARACTERS) for name in _TEXTS if name != "search"}
    question, search = (_text(fields, name, TEXT_CHARACTERS) for name in ("question", "search"))
    if not question or not search:
        raise _Unusable('"question" or "search" is empty')
    videos = _texts(fields, "videos")
    if not set(videos) <= set(titles):
        raise _Unusable('"videos" has a letter that no video has')
    # Words that stand in no question of the customer name no time, and nothing that must be found exactly.
    said = [asked.question.question, *(turn.question for turn in asked.question.history)]
    try:
        time = time_of_reply(_plain_times(fields.get("times")), said)
    except ValueError as error:
        raise _Unusable('"times" does not have the canonical form') from error
    choices = tuple(_texts(fields, "choices"))
    language = _text(fields, "language", 2).lower()
    return Reply(
        language=language if language in CODES else "",
        question=question,
        search=search,
        words=SearchWords(texts["keywords"] or search, texts["entity"], texts["scene"]),
        choices=choices if len(choices) == len(asked.question.choices) else (),
        chosen=chosen,
        sure=fields.get("sure") is True,
        statement=texts["statement"],
        exact=texts["exact"] if _is_part(texts["exact"], " ".join(said)) else "",
        counted=texts["counted"],
        topic=tuple(_texts(fields, "topic")),
        time=time,
        videos=tuple(sorted(titles[letter] for letter in set(videos))),
    )


def _one_of(fields: Mapping[str, Any], name: str, values: Sequence[str]) -> str:
    value = fields.get(name)
    if value not in values:
        raise _Unusable(f'"{name}" must be one of {", ".join(values)}')
    return str(value)


def _text(fields: Mapping[str, Any], name: str, most: int) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise _Unusable(f'"{name}" must be a text')
    return as_data(value)[:most]


def _texts(fields: Mapping[str, Any], name: str) -> list[str]:
    value = fields.get(name)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _Unusable(f'"{name}" must be a list of texts')
    return [as_data(item)[:TEXT_CHARACTERS] for item in value]


def _plain_times(times: object) -> object:
    """Return times with their texts as data, since those of an event are shown, stored and searched for."""
    if not isinstance(times, list) or not all(isinstance(each, dict) for each in times):
        return None
    return [
        {name: as_data(value)[:WORDS_CHARACTERS] if isinstance(value, str) else value for name, value in each.items()}
        for each in times
    ]


def _is_part(words: str, text: str) -> bool:
    plain, whole = (" ".join(as_data(part).casefold().split()) for part in (words, text))
    return bool(plain) and plain in whole
