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
            return _checked(asked, read_object(text), schema, titles)
        except ValueError as problem:
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


def _checked(
    asked: Asked, reply: Mapping[str, Any] | None, schema: Mapping[str, Any], titles: Mapping[str, UUID]
) -> Reply:
    """Return a reply as data. Raises ValueError, which says what cannot be used."""
    if reply is None:
        raise ValueError("it is no JSON object")
    fields = following(reply, schema)
    if not fields["question"] or not fields["search"]:
        raise ValueError('"question" or "search" is empty')
    # Words that stand in no question of the customer name no time, and nothing that must be found exactly.
    said = [asked.question.question, *(turn.question for turn in asked.question.history)]
    choices = tuple(fields["choices"])
    return Reply(
        language=fields["language"].lower() if fields["language"].lower() in CODES else "",
        question=fields["question"],
        search=fields["search"],
        words=SearchWords(fields["keywords"] or fields["search"], fields["entity"], fields["scene"]),
        choices=choices if len(choices) == len(asked.question.choices) else (),
        chosen={name: fields[name] for name in _CHOSEN},
        sure=fields["sure"],
        statement=fields["statement"],
        exact=fields["exact"] if _is_part(fields["exact"], " ".join(said)) else "",
        counted=fields["counted"],
        topic=tuple(fields["topic"]),
        time=time_of_reply(fields["times"], said),
        videos=tuple(sorted(titles[letter] for letter in set(fields["videos"]) if letter in titles)),
    )


def following(value: Any, schema: Mapping[str, Any], name: str = "") -> Any:
    """Return what the schema describes of a value of a reply, with its texts as data, cut to their maximum length.

    Raises ValueError for another type or a value that is not among the fixed ones; the message has no text of value.
    """
    types = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict}
    if type(value) is not types[schema["type"]]:
        raise ValueError(f'"{name}" must be of type {schema["type"]}')
    if value not in schema.get("enum", [value]):
        raise ValueError(f'"{name}" must be one of {", ".join(schema["enum"])}')
    if isinstance(value, str):
        return as_data(value)[: schema.get("maxLength", WORDS_CHARACTERS)]
    if isinstance(value, list):
        return [following(item, schema["items"], name) for item in value]
    if isinstance(value, dict):
        return {
            part: following(value.get(part), rule, f"{name}.{part}" if name else part)
            for part, rule in schema["properties"].items()
        }
    return value


def _is_part(words: str, text: str) -> bool:
    plain, whole = (" ".join(as_data(part).casefold().split()) for part in (words, text))
    return bool(plain) and plain in whole
