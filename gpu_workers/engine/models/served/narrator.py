"""Narrator played by a chat model, in requests that fit its window (AVATAAR's global context)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import EventDigest, Topic
from gpu_workers.engine.models.roles import (
    ChatModel,
    Message,
    Meter,
    ModelError,
    Narrator,
    OverviewText,
    TopicText,
)
from gpu_workers.engine.models.served.events import labelled_images, numbered_frames, picture_tokens
from gpu_workers.engine.models.served.narration import (
    MOST_NAMES,
    PEOPLE,
    PLACE,
    TEXT_CHARS,
    TITLE_CHARS,
    Material,
    material_of_events,
    material_of_topics,
)
from gpu_workers.engine.models.served.structured import ask_object, clean, list_of, object_of, text_of
from gpu_workers.engine.models.served.vision import spread
from gpu_workers.engine.prompts import load

Text = TypeVar("Text", TopicText, OverviewText)

_MARGIN = 128
"""Number of tokens of a request that are kept free for roles, separators and a word about a fault."""

PICTURES_SHARE = 0.5
"""Maximum share of a request's room that pictures take, the rest being words."""

SPEECH_CHARS = 1_200
"""Maximum length of what was said in one event: about a minute and a half of speech."""

_NAMES = list_of(text_of(120), 20)
_TOPIC_SCHEMA = object_of(
    {"title": text_of(TITLE_CHARS), "summary": text_of(TEXT_CHARS), "people": _NAMES, "places": _NAMES}, title="topic"
)
_OVERVIEW_SCHEMA = object_of({"text": text_of(TEXT_CHARS), "people": _NAMES, "places": _NAMES}, title="overview")


class LlmNarrator:
    """A roles.Narrator played by a chat model. Events that do not fit one request are narrated in parts, each with what
    was said in it and with its frames, if the model takes pictures. Then the parts are narrated, and their people and
    places are kept.

    Names that the material does not give are left out, and so are sentences that use them. fallback: gives the title of
    a topic if the model's title uses such a name.
    """

    def __init__(self, model: ChatModel, fallback: Narrator, *, max_tokens: int = 512) -> None:
        self.name = model.name
        self._model, self._fallback = model, fallback
        self._max_tokens = max_tokens

    @property
    def looks(self) -> bool:
        return self._model.accepts_images

    def narrate_topic(
        self, events: Sequence[EventDigest], frames: Sequence[tuple[int, bytes]] = (), *, profile: str, meter: Meter
    ) -> TopicText:
        system = load("topics", profile).substitute(focus=load("topics_focus", profile).template)
        material = material_of_events(events)

        def read(answer: dict[str, Any]) -> TopicText:
            summary = material.without_strangers(clean(answer["summary"], limit=TEXT_CHARS))
            title = clean(answer["title"], limit=TITLE_CHARS)
            if not summary or not title:
                raise ValueError("title or summary is empty, or names somebody that no event names")
            told = [text for event in events for text in (event.summary, *event.speech)]
            if not Material([summary, *told]).holds_names_of(title):
                title = self._fallback.narrate_topic(events, profile=profile, meter=meter).title
            return TopicText(
                title,
                summary,
                material.kept(_strings(answer.get("people"))),
                material.kept(_strings(answer.get("places"))),
            )

        def as_line(text: TopicText) -> str:
            return f"{text.title}: {text.summary}{_named(text.people, text.places)}"

        lines = [_Line(event.span.start_ms, event.span.end_ms, _event_words(event)) for event in events]
        ask = self._asker(system, "topics_view", "events", _TOPIC_SCHEMA, "topics", read, profile, meter)
        return self._condense(lines, ask, as_line, system, material, frames if self.looks else ())

    def narrate_overview(self, topics: Sequence[Topic], *, profile: str, meter: Meter) -> OverviewText:
        system = load("overview", profile).substitute()
        material = material_of_topics(topics)

        def read(answer: dict[str, Any]) -> OverviewText:
            text = material.without_strangers(clean(answer["text"], limit=TEXT_CHARS))
            if not text:
                raise ValueError("text is empty, or names somebody that no part names")
            return OverviewText(
                text, material.kept(_strings(answer.get("people"))), material.kept(_strings(answer.get("places")))
            )

        def as_line(text: OverviewText) -> str:
            return f"{text.text}{_named(text.people, text.places)}"

        lines = [
            _Line(t.span.start_ms, t.span.end_ms, f"{t.title}: {t.summary}{_named(t.people, t.places)}") for t in topics
        ]
        ask = self._asker(system, "overview_view", "parts", _OVERVIEW_SCHEMA, "overview", read, profile, meter)
        return self._condense(lines, ask, as_line, system, material)

    def _asker(
        self,
        system: str,
        view: str,
        placeholder: str,
        schema: Mapping[str, Any],
        stage: str,
        read: Callable[[dict[str, Any]], Text],
        profile: str,
        meter: Meter,
    ) -> Callable[[Sequence[_Line], Sequence[tuple[int, bytes]]], Text]:
        def ask(lines: Sequence[_Line], frames: Sequence[tuple[int, bytes]]) -> Text:
            user = load(view, profile).substitute({placeholder: "\n".join(map(str, lines))})
            if frames:
                user += f"\nFrames shown: {numbered_frames(frames)}"
            messages = [Message("system", (system,)), Message("user", (*labelled_images(frames), user))]
            return ask_object(
                self._model, messages, schema=schema, read=read, stage=stage, meter=meter, max_tokens=self._max_tokens
            ).value

        return ask

    def _condense(
        self,
        lines: Sequence[_Line],
        ask: Callable[[Sequence[_Line], Sequence[tuple[int, bytes]]], Text],
        as_line: Callable[[Text], str],
        system: str,
        material: Material,
        frames: Sequence[tuple[int, bytes]] = (),
    ) -> Text:
        """Return the text of all lines, condensed in rounds that leave at most half as many lines, until one request
        holds all. frames: shown with the lines of their time in the first round; fewer where they would take more than
        PICTURES_SHARE of the room. The text keeps the people and places of its parts."""
        room = self._model.context_tokens - self._model.count_tokens(system) - self._max_tokens - _MARGIN
        if room < 64:
            raise ModelError("context_exceeded", f"{self.name}: no room for any event in its window", retryable=False)
        while frames and picture_tokens(self._model, frames) > PICTURES_SHARE * room:
            frames = spread(frames, len(frames) // 2)
        room -= picture_tokens(self._model, frames)
        parts: list[Text] = []
        while True:
            packs = self._packs(lines, room)
            told: list[_Line] = []
            for pack in packs:
                seen = [frame for frame in frames if pack[0].start_ms <= frame[0] < pack[-1].end_ms]
                if len(pack) > 1 or len(packs) == 1 or seen:
                    parts.insert(0, ask(pack, seen))
                    told.append(_Line(pack[0].start_ms, pack[-1].end_ms, as_line(parts[0])))
                else:
                    told.append(pack[0])
            if len(packs) == 1:
                return _with_names(parts[0], parts, material)
            lines, frames = told, ()

    def _packs(self, lines: Sequence[_Line], room: int) -> list[list[_Line]]:
        """Return lines in runs of at most room tokens. A line is cut to half the room, so that a run holds two at
        least."""
        packs: list[list[_Line]] = [[]]
        used = 0
        for line in lines:
            line, cost = self._fitted(line, room // 2)
            if packs[-1] and used + cost > room:
                packs.append([])
                used = 0
            packs[-1].append(line)
            used += cost
        return packs

    def _fitted(self, line: _Line, most: int) -> tuple[_Line, int]:
        """Return line, cut if it has more than `most` tokens, and its number of tokens."""
        while (cost := self._model.count_tokens(f"{line}\n")) > most and len(line.text) > 1:
            line = _Line(line.start_ms, line.end_ms, line.text[: max(1, len(line.text) * most // (cost + 1))])
        return line, cost


def _with_names(text: Text, parts: Sequence[Text], material: Material) -> Text:
    """Return text with the people and places of parts after its own, as far as the material holds them."""
    people = material.kept([*text.people, *(name for part in parts for name in part.people)])
    places = material.kept([*text.places, *(name for part in parts for name in part.places)])
    return replace(text, people=people, places=places)


@dataclass(frozen=True, slots=True)
class _Line:
    """One stretch of time in a request."""

    start_ms: int
    end_ms: int
    text: str

    def __str__(self) -> str:
        return f"[{clock(self.start_ms)}-{clock(self.end_ms)}] {self.text}"


def _event_words(event: EventDigest) -> str:
    said = clean(" ".join(event.speech), limit=SPEECH_CHARS)
    speech = f' Speech: "{said}"' if said else ""
    if not event.described:
        return f"(could not be described){speech}"
    people = [actor.name for actor in event.actors if actor.type in PEOPLE]
    places = [actor.name for actor in event.actors if actor.type == PLACE]
    return clean(event.summary) + speech + _named(people, places)


def _named(people: Sequence[str], places: Sequence[str]) -> str:
    """Return the names in the form that the model should copy."""
    parts = [
        f" {label}: {'; '.join(clean(name, limit=120) for name in names[:MOST_NAMES])}."
        for label, names in (("People", people), ("Places", places))
        if names
    ]
    return "".join(parts)


def _strings(value: object) -> list[str]:
    return [name for item in value if (name := clean(item, limit=120))] if isinstance(value, list) else []
