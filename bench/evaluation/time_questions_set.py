"""Questions of strangers that name a time of a video, with the stretch that holds their answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.reading.placing import resolve, understood_time
from gpu_workers.engine.answering.reading.times import times_in
from gpu_workers.engine.languages.codes import ENGLISH
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
    named, _ = times_in(question, language_of(question) or ENGLISH)
    if not named.forms or named.order:
        return "none"
    recordings = {_VIDEO: Recording(_VIDEO, "", row["duration_ms"])}
    stretches = resolve(named.forms, recordings, None)
    if not stretches:
        return "none"
    time = understood_time(named, stretches, chosen_by="figures")
    spans = time.read_spans().get(_VIDEO, ())
    # References are whole seconds, so spans that meet at one second touch.
    touches = any(span.start_ms <= end_ms and start_ms <= span.end_ms for span in spans)
    return "touches" if touches else "excludes"
