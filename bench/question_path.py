"""`python -m bench.question_path`: through how many files one plain question runs, as one JSON line.

A scripted capable reasoner answers "Who stands at the gate?" over a small graph. files: modules of the engine that ran
for it. changes: how often a call or a return went from one module to another. calls: model calls, embeddings left out.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.memory_graph import InMemoryGraph
from tests.engine.answering.world import Request, ScriptedReasoner, make_video, models, reading, says

QUESTION = "Who stands at the gate?"
EVENTS = ("a guard stands at the gate", "a van parks in the yard", "a dog sleeps by the gate")
ENGINE = str(Path(__file__).parents[1] / "gpu_workers" / "engine")


class PathOfFiles:
    """Counts modules of the engine, and changes between them, while it is the profiler of a thread."""

    def __init__(self) -> None:
        self.files: Counter[str] = Counter()
        self.changes = 0
        self._last = ""

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event not in ("call", "return"):
            return
        place = frame if event == "call" else frame.f_back
        name = "" if place is None else place.f_code.co_filename
        if not name.startswith(ENGINE):
            return
        if event == "call":
            self.files[name] += 1
        if name != self._last:
            self.changes += bool(self._last)
            self._last = name


def main() -> int:
    def script(request: Request) -> Any:
        return reading(QUESTION) if request.stage == "read" else says("a guard", evidence=[1])

    reasoner = ScriptedReasoner(script, reads=True)
    graph, bound, question = InMemoryGraph([make_video(EVENTS)]), models(reasoner), QuestionInput(QUESTION)
    answer_question(question, graph, bound)  # what is loaded or compiled once is no part of a question's path
    reasoner.requests.clear()
    path = PathOfFiles()
    sys.setprofile(path)
    try:
        answer_question(question, graph, bound)
    finally:
        sys.setprofile(None)
    stages = [request.stage for request in reasoner.requests]
    figures = {"question_path_files": len(path.files), "question_path_changes": path.changes, "calls": stages}
    print(json.dumps(figures))
    if "--files" in sys.argv:
        print(*(f"{count:6} {name.removeprefix(ENGINE)[1:]}" for name, count in path.files.most_common()), sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
