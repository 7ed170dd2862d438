"""Which way a question is answered: by rules over its words, and by one call of the reasoner where they are unsure.

Only the customer's own words are read, never text of a video: neither an event nor an earlier answer can choose a
route.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.reading.route_words import BY_LANGUAGE
from gpu_workers.engine.answering.reading.rules import (
    STATEMENT_CHARACTERS,
    Reading,
    read_question,
    statement_in,
    without_time,
)
from gpu_workers.engine.answering.reading.times import named_time
from gpu_workers.engine.answering.understood import ROUTES, Shape, Understood
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.languages.codes import ENGLISH
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.models.served.json_text import read_object
from gpu_workers.engine.models.served.structured import object_of
from gpu_workers.engine.prompts import load

ROUTED_METHOD = "ava"
"""The only method with routes. The others answer in the one way that they publish."""

ROUTE_PROMPTS = frozenset({"route"})

REPLY_TOKENS = 120
_SHAPES: tuple[Shape, ...] = get_args(Shape)


def routed(asked: Asked, calls: Calls, understood: Understood) -> Understood:
    """Return understood with the route, the shape of the answer, and what a scan judges or object memory counts.

    The caller's route stands. A question with choices is searched for, and so is every question of effort `paper`,
    which keeps to the paper. The reasoner is asked at most once, at efforts medium and high, if its size was not found
    to be small. May raise Halt.
    """
    question = asked.question
    if question.method != ROUTED_METHOD:
        return understood
    time_words = understood.time.words if understood.time is not None else ""
    words, language = _readable(asked, asked.own_words)
    words = without_time(words, time_words=time_words, remaining=understood.searched)
    reading = read_question(words, language=language, time_words=time_words)
    if question.route != "auto":
        return _chosen(asked, understood, replace(reading, route=question.route), time_words, "caller")
    if question.choices or asked.settings.effort == "paper":
        return understood
    if not reading.certain and asked.settings.effort != "low" and asked.models.calibration.limits.value is None:
        answer = _by_model(asked, calls)
        if answer is not None:
            return _chosen(asked, understood, answer, time_words, "model")
    default = reading == Reading() or (reading.route == "search" and reading.shape == "sentence")
    return _chosen(asked, understood, reading, time_words, "default" if default else "rules")


def _readable(asked: Asked, words: str) -> tuple[str, str]:
    """Return words and their language. A question in a language without rules is read in its translation, unless the
    conversation is part of it: only the customer's own words choose a route."""
    language = asked.question_language
    if language in BY_LANGUAGE or not asked.translated or asked.standalone:
        return words, language
    return asked.in_english, ENGLISH


def _chosen(asked: Asked, understood: Understood, reading: Reading, time_words: str, chosen_by: Any) -> Understood:
    """Return understood by this reading. A follow-up's statement comes from the question that was made to stand alone,
    since its own words may only point at it."""
    predicate, counted = reading.predicate, reading.counted
    if reading.route in ("scan", "objects"):
        # The index is in English, so a statement about its events is, too.
        text, language = asked.in_english, ENGLISH if asked.translated else understood.language
        if asked.standalone or asked.translated or not predicate:
            english = named_time(text, language=ENGLISH) if asked.translated and time_words else None
            remaining = understood.searched if english is None else english.remaining
            text = without_time(text, time_words=time_words, remaining=remaining)
            alone = read_question(text, language=language, time_words=time_words)
            predicate = alone.predicate or statement_in(text, language=language, time_words=time_words)
            counted = alone.counted or counted
        if reading.route == "objects" and not counted:
            counted = predicate
    return replace(
        understood,
        route=reading.route,
        chosen_by=chosen_by,
        shape=reading.shape,
        predicate=predicate if reading.route in ("scan", "objects") else "",
        denied=reading.denied and reading.route == "scan",
        always=reading.always and reading.route == "scan",
        counted=counted if reading.route in ("scan", "objects") else "",
    )


def _by_model(asked: Asked, calls: Calls) -> Reading | None:
    """Return what the reasoner makes of the question's words; None if it fails or cannot be read."""
    prompt = load("route", asked.question.profile).substitute(question=as_data(asked.own_words))
    text = {"type": "string"}
    schema = object_of(
        {
            "route": {"type": "string", "enum": [route for route in ROUTES if route != "time"]},
            "shape": {"type": "string", "enum": list(_SHAPES)},
            "statement": text,
            "counted": text,
        }
    )
    try:
        with calls.timed("route"):
            samples = calls.ask(
                [Message("user", (prompt,))],
                stage="route",
                meter=calls.meter,
                schema=schema,
                max_tokens=REPLY_TOKENS,
                seed=asked.seed_of("route"),
            )
    except ModelError:
        return None
    fields = read_object(samples[0].text) or {}
    if fields.get("route") not in ROUTES or fields.get("shape") not in _SHAPES or fields["route"] == "time":
        return None
    statement, counted = (
        as_data(str(fields.get(name) or ""))[:STATEMENT_CHARACTERS] for name in ("statement", "counted")
    )
    return Reading(fields["route"], fields["shape"], statement, counted)
