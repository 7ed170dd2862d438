"""What a person said of open answers and of their citations.

REAL holds every answer and every citation about the real recordings that was judged against the frames;
docs/lab/quality.md has the counts. An answer that nobody has judged yet counts as neither right nor wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

Grade = Literal["right", "wrong", "abstained", "failed", "unjudged"]
Judged = Mapping[str, Mapping[str, Any]]
"""The contents of a file of verdicts. answers: video -> question -> plain answer -> right or wrong. citations: video ->
question -> plain answer -> span of a citation that is marked supported -> whether it supports that answer."""

REAL = Path(__file__).with_name("real_verdicts.json")


def plain(answer: str) -> str:
    """Return an answer as a file of verdicts has it: in lower case, spaces as one, without a full stop at its end."""
    return re.sub(r"\s+", " ", answer).strip().rstrip(".").lower()


def verdict(video: str, question: str, answer: str, judged: Judged) -> Grade:
    """Return what a person said of an open answer."""
    said = _of_answer(judged.get("answers", {}), video, question, answer)
    return said if said in ("right", "wrong") else "unjudged"


def supports(video: str, question: str, answer: str, span: str, judged: Judged) -> bool | None:
    """Return whether a citation supports the answer that it is given for; None if nobody has judged it."""
    spans = _of_answer(judged.get("citations", {}), video, question, answer)
    said = spans.get(span) if isinstance(spans, Mapping) else None
    return said if isinstance(said, bool) else None


def span_name(seconds: tuple[float, float]) -> str:
    """Return the name of a citation among those of one answer: its seconds."""
    return f"{seconds[0]:g}-{seconds[1]:g}"


def read_verdicts(path: Path = REAL) -> Judged:
    judged: Judged = json.loads(path.read_text(encoding="utf-8"))
    return judged


def _of_answer(verdicts: Mapping[str, Any], video: str, question: str, answer: str) -> Any:
    return verdicts.get(video, {}).get(question, {}).get(plain(answer))
