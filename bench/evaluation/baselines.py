"""Methods that only the evaluation has: they show what a question, plain captions or the marked events give away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bench.evaluation.datasets import Sentence
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.methods.baselines import answer_once
from gpu_workers.engine.answering.presets import changed
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.summary_answer import show_events
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.retrieval.frames import all_places
from gpu_workers.engine.retrieval.fusion import RankedEvent

NOTHING = EventContext("(nothing was recorded)", {}, {})


def _of_one_sample(asked: Asked) -> Asked:
    return replace(asked, settings=changed(asked.settings, n=1))


class QuestionOnly:
    """The reasoner without the video: shows how much the question and its choices give away."""

    name, version = "question_only", "1"

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        return answer_once(_of_one_sample(asked), calls, State("", ()), NOTHING)


class UniformCaptions:
    """Evenly spaced captions, as many as the engine reads for an answer; one answer."""

    name, version = "uniform_captions", "1"

    def __init__(self, captions: Sequence[Sentence]) -> None:
        self._captions = captions

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        asked = _of_one_sample(asked)
        if not self._captions:
            return answer_once(asked, calls, State("", ()), NOTHING)
        count = asked.models.reasoner.count_tokens
        low, high = 1, len(self._captions)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (
                (middle, high)
                if count(self._spaced(middle)) <= asked.settings.prompt.context_tokens
                else (low, middle - 1)
            )
        return answer_once(asked, calls, State("", ()), EventContext(self._spaced(low), {}, {}))

    def _spaced(self, n: int) -> str:
        positions = np.linspace(0, len(self._captions) - 1, n).round().astype(int)
        chosen = [self._captions[position] for position in dict.fromkeys(positions.tolist())]
        return "\n".join(f"{c.span.start_ms // 60_000:02}:{c.span.start_ms // 1000 % 60:02} {c.text}" for c in chosen)


class OracleEvents:
    """The reasoner over the events in which a person saw the answer: the upper bound for retrieval."""

    name, version = "oracle_events", "1"

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        asked = replace(asked, settings=changed(asked.settings, n=1, sa_ratio=1.0))
        events = [e for e in all_places(asked.graph) if any(e.span.overlaps(span) for span in self._spans)]
        state = State("", tuple(RankedEvent(event.event_id, 1.0) for event in events))
        return answer_once(asked, calls, state, show_events(asked, state))
