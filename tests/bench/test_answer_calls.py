"""The scripted questions of the benchmark make the calls that its figures count."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from bench.answer_calls import OURS, PAPER, SLOTS, ask, tokens, words
from bench.model_server import ModelServer, Rates
from gpu_workers.engine.answering.presets import changed
from gpu_workers.engine.models.roles import ChatModel, Message, Meter, Sample

FAST = Rates(latency_s=0.0, prefill=1e9, decode=1e9)


class Overheard(ChatModel):
    """Passes every call on and keeps its stage and its prompt."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model
        self.name, self.capabilities = model.name, model.capabilities
        self.prompts: list[tuple[str, str, int]] = []
        self._lock = threading.Lock()

    def sample(
        self, messages: Sequence[Message], *, stage: str, meter: Meter, n: int = 1, **other: Any
    ) -> list[Sample]:
        with self._lock:
            self.prompts.append((stage, "\n".join(str(part) for message in messages for part in message.parts), n))
        return self.model.sample(messages, stage=stage, meter=meter, n=n, **other)

    def count_tokens(self, text: str) -> int:
        return self.model.count_tokens(text)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(FAST, slots=SLOTS, words=words) as server:
        yield server


@pytest.mark.long
def test_preset_paper_sends_each_context_once(server: ModelServer) -> None:
    heard: list[Overheard] = []

    def overhear(model: ChatModel) -> ChatModel:
        heard.append(Overheard(model))
        return heard[0]

    before = server.served().requests
    answer = ask(server, PAPER, through=overhear)

    assert server.served().requests - before == 17
    assert Counter((stage, n) for stage, _, n in heard[0].prompts) == {
        ("requery", 1): 4,
        ("answer", 8): 13,
    }
    shown = {node.path: frozenset(e.event_id for e in node.events) for node in answer.nodes if node.action == "SA"}
    # F/B and B/F may list the same events; no other two nodes do.
    del shown["F/B/SA"]
    assert len(shown) == len(set(shown.values())) == 12
    assert len({prompt for stage, prompt, _ in heard[0].prompts if stage == "answer"}) >= 12
    assert Counter(len(events) for events in shown.values()) == {12: 1, 16: 11}, "the root has four of each view"
    calls = sorted(call.prompt_tokens for call in answer.usage.calls if call.stage == "answer")
    assert all(4_800 < tokens < 5_400 for tokens in calls[1:]), "contexts of about 5,000 tokens"


@pytest.mark.long
def test_ours_stops_where_samples_agree_and_goes_on_where_they_do_not(server: ModelServer) -> None:
    agreed, doubted = ask(server, OURS), ask(server, OURS, doubt=True)

    def stages(answer: Any) -> Counter[str]:
        return Counter(call.stage for call in answer.usage.calls if call.stage != "embedding")

    # The scripted reasoner writes no reading of a question, so it is asked for one twice (ADR 51).
    assert stages(agreed) == {"read": 2, "rewrite": 1, "answer": 1}
    assert [node.path for node in agreed.nodes] == ["", "SA"]
    assert stages(doubted)["answer"] > 2
    assert any(node.path.count("/") == 1 for node in doubted.nodes if node.action == "SA")


@pytest.mark.long
def test_the_reference_asks_for_each_sample_alone(server: ModelServer) -> None:
    before = server.served().requests

    answer = ask(server, changed(PAPER, max_depth=1, in_flight=1), one_by_one=True)

    assert server.served().requests - before == 8
    assert [len(node.candidates) for node in answer.nodes if node.action == "SA"] == [8]


@pytest.mark.long
def test_the_figures_of_tokens_hold() -> None:
    figures = {figure.name: figure for figure in tokens()}

    assert list(figures) == [
        "paper_prompt_tokens",
        "paper_calls",
        "paper_cached_prompt_share",
        "ours_prompt_tokens_share",
    ]
    assert figures["paper_calls"].value == 17
    assert all(figure.holds for figure in figures.values())
    assert 70_000 < figures["paper_prompt_tokens"].value < 80_000
    assert 0.02 < figures["ours_prompt_tokens_share"].value < 0.1
