"""The clock that replaces a model: its answers are usable, and its time follows its rates."""

from __future__ import annotations

import jsonschema
import pytest

from bench.model_server import ModelServer, Rates, answer_for
from bench.served import unavoidable
from gpu_workers.engine.ekg import CHUNK_MS, Chunk, Span
from gpu_workers.engine.models.roles import Message, Meter
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.events import LlmSummariser, VlmExtractor

FAST = Rates(latency_s=0.0, prefill=1e9, decode=1e9)


def model_of(server: ModelServer) -> OpenAIChatModel:
    return OpenAIChatModel(base_url=server.url, model="scripted", concurrency=8)


def test_the_engine_can_use_its_answers() -> None:
    chunks = [Chunk(n, Span(n * CHUNK_MS, (n + 1) * CHUNK_MS), f"someone at {n}") for n in range(2)]
    with ModelServer(FAST, slots=2) as server:
        model, meter = model_of(server), Meter()
        summary = LlmSummariser(model).summarise(chunks, profile="general", meter=meter)
        found = VlmExtractor(model).extract(summary, chunks, (), profile="general", meter=meter)
        served = server.served()
    assert summary
    assert len(found.mentions) == 2
    assert (served.requests, len(meter.calls)) == (2, 2), "each was usable at the first try"


def test_its_objects_fit_the_schema_they_are_made_for() -> None:
    schema = {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": ["a", "b"]},
            "sure": {"type": "number"},
            "more": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
            "yes": {"type": "boolean"},
            "perhaps": {"anyOf": [{"type": "null"}, {"type": "string"}]},
        },
        "required": ["kind", "sure", "more", "yes", "perhaps"],
    }
    for number in range(3):
        jsonschema.validate(answer_for(schema, number), schema)


def test_a_prompt_that_began_before_is_cached_up_to_where_it_differs() -> None:
    with ModelServer(FAST, slots=1) as server:
        model, meter = model_of(server), Meter()
        for end in ("one", "two", "two"):
            model.sample([Message("system", ("x" * 400,)), Message("user", (end,))], stage="answer", meter=meter)
    assert [call.prompt_tokens for call in meter.calls] == [101, 101, 101]
    assert [call.cached_tokens for call in meter.calls] == [0, 100, 101]


def test_a_prompt_is_cached_in_blocks_inside_a_message_too() -> None:
    with ModelServer(FAST, slots=1) as server:
        model, meter = model_of(server), Meter()
        for end in ("a" * 64, "b" * 64, "c" * 64):
            model.sample([Message("user", ("x" * 160 + end,))], stage="answer", meter=meter)
    # The first two blocks of 16 of the 56 tokens are the same; the third has both x and another letter.
    assert [call.prompt_tokens for call in meter.calls] == [56, 56, 56]
    assert [call.cached_tokens for call in meter.calls] == [0, 32, 32]


def test_a_prompt_is_cached_for_its_own_salt_alone() -> None:
    with ModelServer(FAST, slots=1) as server:
        model, first, second = model_of(server), Meter("acme"), Meter("globex")
        for meter in (first, first, second):
            model.sample([Message("user", ("x" * 400,))], stage="answer", meter=meter)
    assert [call.cached_tokens for call in first.calls] == [0, 100]
    assert [call.cached_tokens for call in second.calls] == [0]


def test_the_served_time_follows_the_rates() -> None:
    with ModelServer(Rates(latency_s=0.05, prefill=2_000.0, decode=100.0), slots=1) as server:
        model_of(server).sample([Message("user", ("x" * 400,))], stage="answer", meter=Meter())
        served = server.served()
    # 0.05 s, 100 tokens read and the single token "Yes." written.
    assert served.service_s == pytest.approx(0.05 + 0.05 + 0.01)
    assert served.busy_s >= served.service_s
    assert unavoidable(served, slots=1) == pytest.approx(3 * served.longest_s)
