"""One call of the reasoner that puts the time of a question into words that the rules can read."""

from __future__ import annotations

from dataclasses import replace

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.reading.expressions import NamedTime
from gpu_workers.engine.answering.reading.times.grammar import named_time
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.models.served.json_text import read_object
from gpu_workers.engine.prompts import load

_SCHEMA = {
    "type": "object",
    "properties": {"words": {"type": "string"}, "time": {"type": "string"}},
    "required": ["words", "time"],
    "additionalProperties": False,
}


def paraphrased(asked: Asked, calls: Calls) -> NamedTime | None:
    """Return the time that the reasoner reads in the question; None if it finds none, or none that the rules know.

    Its reply passes the rules again: it chooses a time and nothing else. May raise Halt.
    """
    question = asked.question.question
    prompt = load("name_time", asked.question.profile).substitute(question=as_data(question))
    try:
        with calls.timed("time"):
            samples = calls.ask(
                [Message("user", (prompt,))],
                stage="time",
                meter=calls.meter,
                schema=_SCHEMA,
                max_tokens=80,
                seed=asked.seed_of("time"),
            )
    except ModelError:
        return None
    reply = read_object(samples[0].text) or {}
    words, time = reply.get("words"), reply.get("time")
    if not isinstance(words, str) or not isinstance(time, str) or not words.strip() or words not in question:
        return None
    named = named_time(time, language="en")
    return (
        None if named is None else replace(named, words=words, remaining=" ".join(question.replace(words, " ").split()))
    )
