"""What a question will take, before it is asked: its route, and the calls of a scan. No model is asked for it.

The engine itself understands the question and runs its route, with a reasoner that counts its requests and answers
none. So an estimate follows every rule of the work that it foretells.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NoReturn, cast
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Spending
from gpu_workers.engine.answering.calls import MESSAGE_TOKENS, Calls
from gpu_workers.engine.answering.contract import Budget, QuestionInput
from gpu_workers.engine.answering.presets import settings_with
from gpu_workers.engine.answering.reading.reading import understand
from gpu_workers.engine.answering.routes import ROUTE_ANSWERS
from gpu_workers.engine.answering.routes.outside import outside_answer
from gpu_workers.engine.answering.scanning.scan import Scan, likely_reply, likely_seconds
from gpu_workers.engine.answering.understood import Understood
from gpu_workers.engine.answering.verdict_store import VerdictStore
from gpu_workers.engine.models.calibration import calibration_of
from gpu_workers.engine.models.roles import (
    AnswerModels,
    ChatCapabilities,
    ChatModel,
    Message,
    Meter,
    ModelError,
    Sample,
)
from gpu_workers.engine.models.token_counts import likely_tokens, tokens_of
from gpu_workers.engine.ports import EventPlace, Hit, KnowledgeGraph, ViewName, ViewQuery
from gpu_workers.engine.retrieval.frames import all_places, evenly

MOST_READ = 1_000
"""Maximum number of events that are read. In a wider scope they are spread evenly, and stand for the others."""

SCANNING_ROUTES = ("scan", "objects")
"""Routes that judge events one by one: `objects` does where there is no object memory."""


@dataclass(frozen=True, slots=True)
class Foresight:
    """understood: what the rules read in the question. certain: False if a model would be asked how to read it. calls,
    prompt_tokens, completion_tokens: of a scan, likely values; 0 on other routes and where words decide. seconds: how
    long the calls will take, by initial values."""

    understood: Understood
    certain: bool
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


def foresee(
    question: QuestionInput,
    graph: KnowledgeGraph,
    *,
    reasoner: str,
    capabilities: ChatCapabilities,
    verdicts: VerdictStore,
) -> Foresight:
    """Return what the question will take over what graph holds.

    reasoner, capabilities: name of the model that will answer, and what its server does. verdicts: what earlier scans
    have judged, which is not paid for again; nothing is kept in it. May raise what graph raises.
    """
    counting = _CountingReasoner(reasoner, capabilities)
    unasked: Any = _Unasked(counting)
    calibration = calibration_of(reasoner=reasoner, similarity="", text_embedder="")
    models = AnswerModels(counting, unasked, unasked, unasked, calibration)
    settings, meter = settings_with(question.effort, models), Meter()
    asked = Asked(question, graph, models, settings, searched=question.question, asked_words=question.question)
    spending = Spending(Budget(), meter, clock=time.monotonic, should_stop=lambda: False)
    calls = Calls(
        models, spending=spending, meter=meter, in_flight=settings.in_flight, verdicts=_KnownVerdicts(verdicts)
    )
    asked = understand(asked, calls)
    understood, certain = asked.understood, not counting.others
    if understood.route not in SCANNING_ROUTES or outside_answer(asked, calls) is not None:
        return Foresight(understood, certain)
    places = list(all_places(asked.graph))
    read = [places[index] for index in evenly(len(places), MOST_READ)]
    asked = replace(
        asked, graph=cast(KnowledgeGraph, _AllNear(asked.graph, read)), models=replace(models, text_embedder=_AnyText())
    )
    # If something else than a scan is asked, what the scan took before that stands.
    with suppress(ModelError):
        ROUTE_ANSWERS[understood.route](asked, calls)
    # What is asked for as always true is judged twice: as it is, and what speaks against it.
    scans = 2 if understood.always else 1
    made, most = counting.calls, scans * Scan(asked, calls, understood.predicate).most_calls
    total = max(made, min(most, round(made * len(places) / max(1, len(read)))))
    prompt_tokens, completion_tokens = (
        round(tokens * total / max(1, made)) for tokens in (counting.prompt_tokens, counting.completion_tokens)
    )
    seconds = likely_seconds(
        prompt_tokens,
        completion_tokens,
        small=calibration.limits.value is not None,
        at_once=min(total, settings.in_flight),
    )
    return Foresight(understood, certain, total, prompt_tokens, completion_tokens, seconds)


class _CountingReasoner(ChatModel):
    """Counts the requests of a scan and says no to all of them. others: number of other requests, which it refuses."""

    def __init__(self, name: str, capabilities: ChatCapabilities) -> None:
        self.name = name
        self.capabilities = capabilities
        self.calls = self.prompt_tokens = self.completion_tokens = self.others = 0
        self._lock = threading.Lock()

    def sample(
        self,
        messages: Sequence[Message],
        *,
        stage: str,
        meter: Meter,
        schema: Mapping[str, Any] | None = None,
        n: int = 1,
        temperature: float = 0.0,
        max_tokens: int = 512,
        seed: int | None = None,
        timeout_s: float | None = None,
        alternatives: int = 0,
    ) -> list[Sample]:
        """Return a verdict of no on each event of a scan. Raises ModelError not_asked for any other request."""
        if stage != "scan":
            self.refuse()
        texts = [str(part) for message in messages for part in message.parts]
        listed = 0 if schema is None else int(schema["properties"]["true"]["maxItems"])
        with self._lock:
            self.calls += 1
            self.prompt_tokens += sum(likely_tokens(text) for text in texts) + MESSAGE_TOKENS
            self.completion_tokens += likely_tokens(likely_reply(listed)) if listed else 1
        if not listed:
            return [Sample("no", first={"no": 0.0})]
        return [Sample(f'{{"true": [], "false": {list(range(1, listed + 1))}}}')]

    def count_tokens(self, text: str) -> int:
        """Return what OpenAIChatModel.count_tokens() returns, which cuts the events of a prompt."""
        return tokens_of(text)

    def refuse(self) -> NoReturn:
        with self._lock:
            self.others += 1
        raise ModelError("not_asked", "an estimate asks no model", retryable=False)


class _Unasked:
    """Stands for the other roles, and refuses what they are asked."""

    name = ""
    dimension = 1
    baseline = 0.0

    def __init__(self, counting: _CountingReasoner) -> None:
        self._counting = counting

    def embed(self, *texts: object, **options: object) -> NoReturn:
        self._counting.refuse()

    embed_frames = embed_query = encode = score = embed


class _AnyText:
    """Embeds each text as the same vector, in place of the model."""

    name = ""
    dimension = 1

    def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        return np.ones((len(texts), 1), dtype=np.float32)


class _AllNear:
    """A graph with some of the events, each of which is near to every text: a scan reads any, not the nearest."""

    def __init__(self, graph: KnowledgeGraph, places: Sequence[EventPlace]) -> None:
        self._graph = graph
        self._places = places

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)

    def timeline(self, *, after: EventPlace | None = None, limit: int) -> Sequence[EventPlace]:
        begin = 0 if after is None else self._places.index(after) + 1
        return self._places[begin : begin + limit]

    def search_views(
        self, queries: Mapping[ViewName, ViewQuery], *, floor: float = 0.1
    ) -> Mapping[ViewName, Sequence[Hit]]:
        event = queries.get("event")
        if event is None:
            return self._graph.search_views(queries, floor=floor)
        others: dict[ViewName, ViewQuery] = {name: query for name, query in queries.items() if name != "event"}
        return {
            **self._graph.search_views(others),
            "event": [Hit(place.event_id, 1.0, "event") for place in self._places[: event.limit]],
        }


class _KnownVerdicts:
    """The verdicts of a store, in which nothing new is kept."""

    def __init__(self, store: VerdictStore) -> None:
        self._store = store

    def verdicts(self, key: str) -> Mapping[UUID, bool]:
        return self._store.verdicts(key)

    def keep(self, key: str, video_id: UUID, verdicts: Mapping[UUID, bool]) -> None:
        """Keep nothing: no was said without reading."""
