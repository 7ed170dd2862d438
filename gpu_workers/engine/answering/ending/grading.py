"""A judge for open answers: whether a given answer says the same as the right answer, in the reasoner's words.

The judge reads three texts as data and answers through a schema. Nothing else of a video reaches it.
"""

from __future__ import annotations

from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.models.roles import Message
from gpu_workers.engine.models.served.json_text import read_object
from gpu_workers.engine.prompts import load

STAGE = "grade"
"""Stage of the judge's calls in the ledger."""

CHARACTERS = 2_000
"""Maximum characters of each text that the judge reads."""

_RIGHT = {"same": True, "different": False}
_SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": list(_RIGHT)}},
    "required": ["verdict"],
    "additionalProperties": False,
}


def judge_answer(calls: Calls, *, question: str, truth: str, given: str) -> bool | None:
    """Return whether the given answer is right, in one call; None if the model's reply cannot be read.

    truth: the right answer, as the customer wrote it. given: the answer, which a model wrote after it read text of a
    video. Raises Halt, and ModelError (ModelRefused if the model declines).
    """
    prompt = load("judge_answer").substitute(question=_data(question), truth=_data(truth), given=_data(given))
    sample = calls.ask([Message("user", (prompt,))], stage=STAGE, meter=calls.meter, schema=_SCHEMA, max_tokens=32)[0]
    verdict = (read_object(sample.text) or {}).get("verdict")
    return _RIGHT.get(verdict) if isinstance(verdict, str) else None


def _data(text: str) -> str:
    return as_data(text)[:CHARACTERS]
