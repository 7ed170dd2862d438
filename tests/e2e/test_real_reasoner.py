"""A real llama.cpp server behind OpenAIChatModel, and one question answered with it and the real text models."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.ekg import Chunk, Event, EventRecord, Span, stable_id
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models.bindings import load_answer_models, reasoner
from gpu_workers.engine.models.capabilities import probe, report_of
from gpu_workers.engine.models.roles import AnswerModels, ChatCapabilities, Message, Meter, ModelError
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.settings import ModelSettings, RoleSettings
from infra.local.stack import Stack

pytestmark = [pytest.mark.slow, pytest.mark.long]

VIDEO = stable_id("video", "park")
EVENTS = (
    "An old man in a grey hat sits on a bench and reads a newspaper.",
    "Two children in yellow jackets feed ducks beside the pond.",
    "A brown dog runs across the lawn and catches a red frisbee.",
    "A woman in a blue dress buys ice cream from a white van.",
)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelSettings]:
    """Start a server for this module, with the smallest model that answers sensibly."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("REASONER_", "AVA_LLM_"))}
    environ |= {"AVA_REASONER": "qwen2.5-coder-0.5b", "AVA_LLM_THREADS": "2", "AVA_LLM_SLOTS": "4"}
    with Stack(tmp_path_factory.mktemp("llama"), frozenset({"llama"}), environ=environ) as stack:
        env = stack.env()
        yield ModelSettings(reasoner=RoleSettings(env["REASONER_URL"], env["REASONER_MODEL"], env["REASONER_API_KEY"]))


@pytest.fixture(scope="module")
def models(settings: ModelSettings) -> AnswerModels:
    return load_answer_models(settings)


@pytest.fixture
def graph(models: AnswerModels) -> InMemoryGraph:
    vectors = models.text_embedder.embed(EVENTS, meter=Meter())
    chunks, records = [], []
    for n, (summary, vector) in enumerate(zip(EVENTS, vectors, strict=True)):
        span = Span(3_000 * n, 3_000 * n + 3_000)
        chunks.append(Chunk(n, span, summary))
        records.append(EventRecord(Event(event_id(n), n, span, n, n + 1, summary, vector), (), (), ()))
    return InMemoryGraph([MemoryVideo(VIDEO, records, chunks)])


def event_id(n: int) -> UUID:
    return stable_id("event", VIDEO, n)


def test_two_samples_of_one_request_obey_the_schema_and_are_metered(settings: ModelSettings) -> None:
    chat = reasoner(settings)
    colours = ["red", "green", "blue"]
    schema = {
        "title": "colour",
        "type": "object",
        "properties": {"colour": {"type": "string", "enum": colours}, "sure": {"type": "boolean"}},
        "required": ["colour", "sure"],
        "additionalProperties": False,
    }
    meter = Meter()
    message = Message("user", ("The car is green. Which colour does the car have? Reply with JSON.",))

    samples = chat.sample(
        [message], stage="answer", meter=meter, schema=schema, n=2, temperature=0.6, max_tokens=64, seed=7
    )

    assert len(samples) == 2
    for sample in samples:
        assert not sample.refused
        assert not sample.truncated
        said = json.loads(sample.text)
        assert set(said) == {"colour", "sure"}
        assert said["colour"] in colours
        assert isinstance(said["sure"], bool)
    assert json.loads(samples[0].text)["colour"] == "green"
    assert sum(call.items for call in meter.calls) == 2
    assert all(call.ok and call.stage == "answer" and call.prompt_tokens > 0 for call in meter.calls)
    # One JSON object of this schema has at least 8 tokens.
    assert sum(call.completion_tokens for call in meter.calls) >= 16


def test_a_choice_that_one_event_decides_is_answered_right_with_that_event(
    models: AnswerModels, graph: InMemoryGraph
) -> None:
    question = QuestionInput(
        "What does the brown dog catch?", choices=("a duck", "a red frisbee", "a newspaper", "an ice cream")
    )

    answer = answer_question(question, graph, models)

    assert (answer.finish_reason, answer.choice, answer.text) == ("answered", 1, "a red frisbee")
    assert event_id(2) in [citation.event_id for citation in answer.citations]
    cited = next(citation for citation in answer.citations if citation.event_id == event_id(2))
    assert (cited.start_ms, cited.end_ms, cited.status) == (6_000, 9_000, "supported")
    assert cited.quote in EVENTS[2]
    # The confidence of votes was never calibrated, that of the choices' support was.
    assert (answer.confidence is not None) == (answer.signals["head"] == "support")
    spoken = [call for call in answer.usage.calls if call.stage == "answer"]
    assert {call.model for call in spoken} == {models.reasoner.name}
    assert answer.usage.completion_tokens >= sum(call.completion_tokens for call in spoken) > 0
    assert answer.usage.prompt_tokens == sum(call.prompt_tokens for call in answer.usage.calls)


def test_the_server_shows_what_it_can_do(settings: ModelSettings) -> None:
    shown = report_of(settings.reasoner)
    assert (shown.model, shown.refuses) == ("qwen2.5-coder-0.5b", ())
    assert shown.capabilities == ChatCapabilities(32_768, images=False)
    other = report_of(replace(settings.reasoner, model="", context_tokens=4_096))
    assert (other.model, other.capabilities.context_tokens) == ("qwen2.5-coder-0.5b", 4_096)


def test_another_name_and_a_wrong_key_are_configuration_faults(settings: ModelSettings) -> None:
    with pytest.raises(ModelError, match=r"does not serve 'qwen'; it lists qwen2.5-coder-0.5b") as missing:
        probe(replace(settings.reasoner, model="qwen"))
    with pytest.raises(ModelError, match=r"refuses the key|HTTP 401") as refused:
        probe(replace(settings.reasoner, api_key="wrong"))
    chat = OpenAIChatModel(base_url=settings.reasoner.url, model=settings.reasoner.model, api_key="wrong")
    with pytest.raises(ModelError) as asked:
        chat.sample([Message("user", ("hello",))], stage="answer", meter=Meter())
    for error in (missing.value, refused.value, asked.value):
        assert (error.code, error.retryable) == ("model_misconfigured", True)
