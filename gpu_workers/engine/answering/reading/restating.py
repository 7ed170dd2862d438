"""A question made to stand alone, and texts put into another language, each by one call of the reasoner.

Searches go in English, the language of the index.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.wording import QUESTION_CHARACTERS, as_data, choice_lines, conversation
from gpu_workers.engine.languages.codes import is_english, name_of
from gpu_workers.engine.languages.detection import language_of, may_be_in
from gpu_workers.engine.models.model_table import speaks
from gpu_workers.engine.models.roles import Message
from gpu_workers.engine.models.served.structured import list_of, object_of, read_object
from gpu_workers.engine.prompts import load

STANDALONE_CHARACTERS = 600
"""Maximum characters of a question that was made to stand alone."""

LINE_CHARACTERS = 1_000
"""Maximum characters of each text that is translated."""

AGAIN_TEMPERATURE = 0.5
"""Temperature of a further try."""


def detect_language(asked: Asked) -> Asked:
    """Return asked with the languages of the question and of its answer.

    The answer's language is the one that the caller gives, else the question's; a question that is too short to show
    one has the language of the conversation before it.
    """
    question = asked.question
    earlier = (turn.question for turn in reversed(question.history))
    written = next(filter(None, map(language_of, (question.question, *earlier))), question.language)
    understood = replace(asked.understood, language=question.language or written)
    return replace(asked, understood=understood, question_language=written)


def stand_alone(asked: Asked, calls: Calls) -> Asked:
    """Return asked with the question rewritten from its history, in one call; without history return it unchanged.

    Earlier answers come from a model that read text of the video: they can change the question and the search, and
    nothing else. After a failure the question stays as it is and is searched together with the previous question.
    """
    question = asked.question
    if not question.history:
        return asked
    prompt = load("condense", question.profile).substitute(
        turns=conversation(question.history), question=question.question, choices=choice_lines(question.choices)
    )
    schema = object_of({"question": {"type": "string"}})
    with calls.timed("condense"):
        rewritten = _reply(asked, calls, "condense", prompt, schema=schema, max_tokens=200).get("question")
    text = as_data(rewritten)[:STANDALONE_CHARACTERS] if isinstance(rewritten, str) else ""
    if text:
        return replace(asked, question=replace(question, question=text), searched=text, standalone=text)
    before = as_data(question.history[-1].question)[:QUESTION_CHARACTERS]
    return replace(asked, searched=f"{question.question} {before}")


def translate(asked: Asked, calls: Calls) -> Asked:
    """Return asked with the English of its question, by one call, if it is in another language that the reasoner knows.

    Retrieval takes it where the embedder does not understand the question itself. After a failure the question is
    searched for as it is.
    """
    question, written = asked.question, asked.question_language
    if is_english(written) or not speaks(asked.models.reasoner.name, written):
        return asked
    texts = (asked.searched, *question.choices)
    with calls.timed("translate"):
        translated = rewritten_in("en", texts, prompt="translate", language=written, asked=asked, calls=calls)
    if translated is None:
        return asked
    asked = replace(asked, translated=translated)
    known = asked.models.embedder_languages
    if not known or written in known:
        return asked
    return replace(asked, searched=translated[0], understood=replace(asked.understood, searched=translated[0]))


def rewritten_in(
    target: str,
    texts: Sequence[str],
    *,
    prompt: str,
    language: str,
    asked: Asked,
    calls: Calls,
    again: int = 0,
) -> tuple[str, ...] | None:
    """Return texts in the target language, by one call of the reasoner; None if it fails or replies in another one.

    prompt: name of the prompt, which is given the name of language. again: number of a further try; its reply is drawn,
    because at temperature 0 it would be the same. Does not raise Halt: calls.halted says so.
    """
    lines = [as_data(text)[:LINE_CHARACTERS] for text in texts]
    numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1))
    message = load(prompt, asked.question.profile).substitute(language=name_of(language), texts=numbered)
    schema = object_of({"texts": {**list_of({"type": "string"}, len(lines)), "minItems": len(lines)}})
    tokens = 64 + 3 * asked.models.reasoner.count_tokens(numbered)
    replies = _reply(asked, calls, prompt, message, schema=schema, max_tokens=tokens, again=again).get("texts")
    if not isinstance(replies, list) or len(replies) != len(lines):
        return None
    written = tuple(
        _without_number(as_data(reply)[: 2 * LINE_CHARACTERS], line, number) if isinstance(reply, str) else ""
        for number, (reply, line) in enumerate(zip(replies, lines, strict=True), start=1)
    )
    return written if all(written) and may_be_in(target, written[0]) else None


def _reply(
    asked: Asked,
    calls: Calls,
    stage: str,
    prompt: str,
    *,
    schema: Mapping[str, Any],
    max_tokens: int,
    again: int = 0,
) -> Mapping[str, Any]:
    """Return the fields of the reasoner's reply; empty after a failure."""
    reply = calls.ask_once(
        [Message("user", (prompt,))],
        stage=stage,
        schema=schema,
        max_tokens=max_tokens,
        temperature=AGAIN_TEMPERATURE if again else 0.0,
        seed=asked.seed_of(f"{stage}/{again}" if again else stage),
    )
    return read_object(reply or "") or {}


def _without_number(reply: str, line: str, number: int) -> str:
    """Return a reply without the number of its line in the prompt, which a small reasoner repeats."""
    shown = re.compile(rf"{number}[.)]\s+")
    return shown.sub("", reply, count=1) if shown.match(reply) and not shown.match(line) else reply
