"""Questions of strangers that name a time of a video, with the stretch that holds their answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.reading.expressions import Order
from gpu_workers.engine.answering.reading.resolve import resolve
from gpu_workers.engine.answering.reading.times import named_time
from gpu_workers.engine.answering.understood import UnderstoodTime
from gpu_workers.engine.languages.detection import language_of
from gpu_workers.engine.ports import Recording

_VIDEO = UUID(int=1)


def times_report(path: Path) -> dict[str, object]:
    """Return the shares of questions whose understood time touches the reference, is none, or excludes the reference.

    path: a JSON list of {question, duration_ms, reference_ms: [start, end]}. Each is asked of one video without a wall
    clock. A time after or before an event is counted as none, because no event is located here. The questions of
    "none" and "excludes" are listed.
    """
    outcomes: dict[str, list[str]] = {"touches": [], "none": [], "excludes": []}
    for row in json.loads(path.read_text()):
        outcomes[_outcome(row)].append(row["question"])
    count = Counter({name: len(questions) for name, questions in outcomes.items()})
    total = max(1, count.total())
    return {
        "questions": count.total(),
        **{name: round(count[name] / total, 4) for name in outcomes},
        "missed": {name: outcomes[name] for name in ("none", "excludes")},
    }


def _outcome(row: Mapping[str, Any]) -> str:
    question, (start_ms, end_ms) = row["question"], row["reference_ms"]
    named = named_time(question, language=language_of(question))
    if named is None or any(isinstance(each, Order) for each in named.expressions):
        return "none"
    recordings = {_VIDEO: Recording(_VIDEO, "", row["duration_ms"])}
    resolved = resolve(named.expressions, recordings, None, joined=named.joined)
    if not resolved.applied:
        return "none"
    time = UnderstoodTime(named.words, resolved.meaning, resolved.spans, stretches=resolved.stretches)
    spans = time.read_spans().get(_VIDEO, ())
    # References are whole seconds, so spans that meet at one second touch.
    touches = any(span.start_ms <= end_ms and start_ms <= span.end_ms for span in spans)
    return "touches" if touches else "excludes"
