"""Follow-up questions, rewritten to stand alone before anything is searched."""

from __future__ import annotations

from dataclasses import replace

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.wording import QUESTION_CHARACTERS, as_data, choice_lines, conversation
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.models.served.structured import read_object
from gpu_workers.engine.prompts import load

STANDALONE_CHARACTERS = 600

_SCHEMA = {
    "type": "object",
    "properties": {"question": {"type": "string"}},
    "required": ["question"],
    "additionalProperties": False,
}


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
    text = ""
    try:
        with calls.timed("condense"):
            samples = calls.ask(
                [Message("user", (prompt,))],
                stage="condense",
                meter=calls.meter,
                schema=_SCHEMA,
                max_tokens=200,
                seed=asked.seed_of("condense"),
            )
        rewritten = (read_object(samples[0].text) or {}).get("question")
        text = as_data(rewritten)[:STANDALONE_CHARACTERS] if isinstance(rewritten, str) else ""
    except Halt as halt:
        calls.halt(halt)
    except ModelError:
        text = ""
    if text:
        return replace(asked, question=replace(question, question=text), searched=text, standalone=text)
    before = as_data(question.history[-1].question)[:QUESTION_CHARACTERS]
    return replace(asked, searched=f"{question.question} {before}")
