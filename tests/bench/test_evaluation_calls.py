"""Model calls of an evaluation: each is made once, and its cost is metered every time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.evaluation.cached_calls import CachedChat, CachedTextEmbedder, CallCache
from bench.evaluation.unasked import UnaskedChat
from gpu_workers.engine.models.roles import Image, Message, Meter, ModelCall, ModelError, Sample
from tests.engine.answering.world import ScriptedEmbedder, ScriptedReasoner, embed, says

PROMPT = [Message("system", ("rules",)), Message("user", ("what is seen?",))]


def chat(folder: Path, reasoner: ScriptedReasoner) -> CachedChat:
    return CachedChat(reasoner, CallCache(folder / "calls.sqlite"))


def test_a_question_is_asked_once_and_its_usage_is_metered_again(tmp_path: Path) -> None:
    reasoner = ScriptedReasoner(lambda request: [says("A"), Sample("cut", truncated=True)])
    first, second = Meter(), Meter()

    fresh = chat(tmp_path, reasoner).sample(PROMPT, stage="answer", meter=first, n=2, seed=1, temperature=0.6)
    # A second process would do the same.
    kept = chat(tmp_path, reasoner).sample(PROMPT, stage="answer", meter=second, n=2, seed=1, temperature=0.6)

    assert len(reasoner.requests) == 1
    assert kept == fresh
    assert [sample.truncated for sample in kept] == [False, True]
    assert second.calls == first.calls
    assert first.calls[0].prompt_tokens > 0


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 2},
        {"n": 1},
        {"stage": "verify"},
        {"temperature": 0.0},
        {"max_tokens": 64},
        {"schema": {"type": "object"}},
        {"messages": [PROMPT[0], Message("user", ("what is heard?",))]},
        {"messages": [*PROMPT[:1], Message("user", ("what is seen?", Image(b"jpeg")))]},
        {"messages": [Message("user", ("rules",)), PROMPT[1]]},
    ],
)
def test_whatever_is_asked_otherwise_is_asked(tmp_path: Path, change: dict[str, Any]) -> None:
    reasoner = ScriptedReasoner(lambda request: says("A"))
    asked = chat(tmp_path, reasoner)
    usual: dict[str, Any] = {"messages": PROMPT, "stage": "answer", "n": 2, "seed": 1, "temperature": 0.6}

    for arguments in (usual, {**usual, **change}, usual, {**usual, **change}):
        asked.sample(**arguments, meter=Meter())

    assert len(reasoner.requests) == 2


def test_another_model_is_asked_again_and_a_failure_is_not_cached(tmp_path: Path) -> None:
    replies: list[Any] = [ModelError("model_unavailable", "away", retryable=True), says("A")]
    reasoner = ScriptedReasoner(lambda request: replies.pop(0))
    other = ScriptedReasoner(lambda request: says("B"))
    other.name = "another"

    with pytest.raises(ModelError):
        chat(tmp_path, reasoner).sample(PROMPT, stage="answer", meter=Meter())
    mine = chat(tmp_path, reasoner).sample(PROMPT, stage="answer", meter=Meter())
    theirs = chat(tmp_path, other).sample(PROMPT, stage="answer", meter=Meter())

    assert len(reasoner.requests) == 2
    assert mine != theirs


def test_a_text_is_embedded_once(tmp_path: Path) -> None:
    class Counted(ScriptedEmbedder):
        asked: list[str] = []

        def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
            self.asked += texts
            return super().embed(texts, meter=meter)

    embedder = Counted()
    first = CachedTextEmbedder(embedder, CallCache(tmp_path / "calls.sqlite"))
    second = CachedTextEmbedder(embedder, CallCache(tmp_path / "calls.sqlite"))

    rows = first.embed(["a dog", "a boat", "a dog"], meter=Meter())
    again = second.embed(["a boat", "a cat"], meter=Meter())

    assert embedder.asked == ["a dog", "a boat", "a cat"]
    assert np.array_equal(rows, np.stack([embed("a dog"), embed("a boat"), embed("a dog")]))
    assert np.array_equal(again, np.stack([embed("a boat"), embed("a cat")]))
    assert np.array_equal(second.embed_query("a cat", meter=Meter()), embed("a cat"))
    assert second.embed([], meter=Meter()).shape == (0, embedder.dimension)
    assert (second.name, second.dimension) == (embedder.name, embedder.dimension)


def test_a_search_text_is_embedded_in_the_form_that_the_model_expects(tmp_path: Path) -> None:
    class Prefixed(ScriptedEmbedder):
        asked: list[str] = []

        def embed_queries(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
            self.asked += texts
            return self.embed([f"query: {text}" for text in texts], meter=meter)

    embedder = Prefixed()
    cached = CachedTextEmbedder(embedder, CallCache(tmp_path / "calls.sqlite"))

    stored = cached.embed(["a dog"], meter=Meter())[0]
    searched = [cached.embed_queries(["a dog"], meter=Meter())[0], cached.embed_query("a dog", meter=Meter())]

    assert np.array_equal(stored, embed("a dog"))
    assert all(np.array_equal(row, embed("query: a dog")) for row in searched)
    assert embedder.asked == ["a dog"]


def test_an_arm_without_a_reasoner_cannot_use_a_reasoner_unnoticed() -> None:
    with pytest.raises(ModelError) as refused:
        UnaskedChat("").sample(PROMPT, stage="answer", meter=Meter())
    assert refused.value.code == "not_configured"


class Busy(ScriptedReasoner):
    """Meters a call that failed, as a client does, and raises."""

    def sample(self, messages: Sequence[Message], *, stage: str, meter: Meter, **other: Any) -> list[Sample]:
        meter.record(ModelCall(stage, self.name, 9, ok=False))
        raise ModelError("model_unavailable", "busy", retryable=True)


def test_a_failed_call_is_counted_every_time_and_not_stored(tmp_path: Path) -> None:
    meter = Meter()
    for _ in range(2):
        with pytest.raises(ModelError, match="busy"):
            chat(tmp_path, Busy(lambda request: "")).sample(PROMPT, stage="answer", meter=meter)
    chat(tmp_path, ScriptedReasoner(lambda request: says("A"))).sample(PROMPT, stage="answer", meter=meter)

    assert [call.ok for call in meter.calls] == [False, False, True]
