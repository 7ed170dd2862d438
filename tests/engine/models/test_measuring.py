"""Rates are measured on a full server, and what they attribute is the same at every load."""

from __future__ import annotations

import pytest

from bench.device_time import full_server, reply
from bench.model_server import ModelServer, Rates
from gpu_workers.engine.models.roles import ChatCapabilities, ModelError
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.measuring import Load, Measured, measure_rate, solve
from tests.scripted_openai import Reply, ScriptedOpenAIServer

# 0.1 ms a fresh token, 0.01 ms a cached one, 2 ms a written one, 5 ms a picture, 3 ms a request.
EXACT = [
    Measured(0.1 * 1.0 + 0.003 * 10 + 0.002 * 10, 1_000, 0, 10, 0, 10),
    Measured(0.1 * 9.0 + 0.003 * 10 + 0.002 * 10, 9_000, 0, 10, 0, 10),
    Measured(0.1 * 9.0 + 0.00001 * 8_000 + 0.003 * 20 + 0.002 * 20, 9_000, 8_000, 20, 0, 20),
    Measured(0.1 * 1.0 + 0.003 * 10 + 0.002 * 900, 1_000, 0, 900, 0, 10),
    Measured(0.1 * 3.0 + 0.003 * 10 + 0.002 * 10 + 0.005 * 10, 3_000, 0, 10, 10, 10),
]


def chat(url: str) -> OpenAIChatModel:
    return OpenAIChatModel(base_url=url, model="scripted", api_key="none", capabilities=ChatCapabilities(32_768))


def test_the_rates_that_made_the_loads_are_found() -> None:
    rate = solve(EXACT, cards=2)
    found = (rate.fresh_us, rate.cached_us, rate.output_us, rate.picture_us, rate.request_us)
    # The time of both cards.
    assert found == pytest.approx((200, 20, 4_000, 10_000, 6_000), rel=1e-6)


def test_a_full_server_is_measured_by_its_tokens() -> None:
    rates = Rates(latency_s=0.002, prefill=20_000.0, decode=4_000.0)
    loads = (Load(20, 1), Load(1_000, 1), Load(20, 120))
    with ModelServer(rates, slots=4, words=reply) as server:
        rate = measure_rate(chat(server.url), in_flight=8, rounds=2, loads=loads)
    # No slot can work faster than its rate, so a full server takes at least this long for the tokens of the loads.
    exact = full_server(rates, 4)
    assert rate.fresh_us * 1_000 + rate.request_us >= (exact.fresh_us * 1_000 + exact.request_us) * 0.9
    assert rate.output_us >= 0
    assert min(rate.fresh_us, rate.cached_us, rate.request_us, rate.picture_us) >= 0


def test_a_server_that_reports_no_tokens_cannot_be_measured() -> None:
    with ScriptedOpenAIServer(Reply("yes", prompt_tokens=0)) as server, pytest.raises(ModelError, match="no tokens"):
        measure_rate(chat(server.url), in_flight=1, rounds=1, loads=(Load(5, 1),))
