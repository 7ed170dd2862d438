"""Texts in another language, by one call of the reasoner."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.languages.codes import name_of
from gpu_workers.engine.languages.detection import may_be_in
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.models.served.structured import list_of, object_of, read_object
from gpu_workers.engine.prompts import load

LINE_CHARACTERS = 1_000
"""Maximum characters of each text that is translated."""

AGAIN_TEMPERATURE = 0.5
"""Temperature of a further try."""


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
    count = asked.models.reasoner.count_tokens
    try:
        sample = calls.ask(
            [Message("user", (message,))],
            stage=prompt,
            meter=calls.meter,
            schema=object_of({"texts": {**list_of({"type": "string"}, len(lines)), "minItems": len(lines)}}),
            max_tokens=64 + 3 * count(numbered),
            temperature=AGAIN_TEMPERATURE if again else 0.0,
            seed=asked.seed_of(f"{prompt}/{again}" if again else prompt),
        )[0]
    except Halt as halt:
        calls.halt(halt)
        return None
    except ModelError:
        return None
    replies = (read_object(sample.text) or {}).get("texts")
    if not isinstance(replies, list) or len(replies) != len(lines):
        return None
    written = tuple(
        _without_number(as_data(reply)[: 2 * LINE_CHARACTERS], line, number) if isinstance(reply, str) else ""
        for number, (reply, line) in enumerate(zip(replies, lines, strict=True), start=1)
    )
    return written if all(written) and may_be_in(target, written[0]) else None


def _without_number(reply: str, line: str, number: int) -> str:
    """Return a reply without the number of its line in the prompt, which a small reasoner repeats."""
    shown = re.compile(rf"{number}[.)]\s+")
    return shown.sub("", reply, count=1) if shown.match(reply) and not shown.match(line) else reply
