"""Follow-up questions: made to stand alone before anything is searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.contract import Turn
from gpu_workers.engine.answering.parsing import read_object
from gpu_workers.engine.answering.run import QuestionRun
from gpu_workers.engine.answering.wording import as_data, choice_lines
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.prompts import load

TURNS = 4
"""The last turns that a model is told of."""
QUESTION_CHARACTERS = 300
ANSWER_CHARACTERS = 400
STANDALONE_CHARACTERS = 600

_SCHEMA = {
    "type": "object",
    "properties": {"question": {"type": "string"}},
    "required": ["question"],
    "additionalProperties": False,
}


def stand_alone(run: QuestionRun) -> str:
    """Rewrites run's question by its history, in one call. Returns what it became; "" without history or on failure.

    Earlier answers come from a model that read text of the video: they can change what is asked and searched for, and
    nothing else. After a failure the question stays as it is and is searched together with the last one.
    """
    question = run.question
    if not question.history:
        return ""
    prompt = load("condense", question.profile).substitute(
        turns=conversation(question.history), question=question.question, choices=choice_lines(question.choices)
    )
    text = ""
    try:
        with run.timed("condense"):
            samples = run.ask(
                [Message("user", (prompt,))],
                stage="condense",
                meter=run.meter,
                schema=_SCHEMA,
                max_tokens=200,
                seed=run.seed_of("condense"),
            )
        said = (read_object(samples[0].text) or {}).get("question")
        text = as_data(said)[:STANDALONE_CHARACTERS] if isinstance(said, str) else ""
    except Halt as halt:
        run.halt(halt)
    except ModelError:
        text = ""
    if text:
        run.question = replace(question, question=text)
        run.searched = text
        return text
    run.searched = f"{question.question} {as_data(question.history[-1].question)[:QUESTION_CHARACTERS]}"
    return ""


def conversation(history: Sequence[Turn]) -> str:
    """The last turns as data, a line each, bounded in number and length."""
    lines = []
    for turn in history[-TURNS:]:
        asked = as_data(turn.question)[:QUESTION_CHARACTERS]
        said = as_data(turn.answer)[:ANSWER_CHARACTERS] or "nothing"
        lines.append(f"Asked: {asked} Answered: {said}")
    return "\n".join(lines)
