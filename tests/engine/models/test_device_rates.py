"""A call's device time comes from its tokens, so it depends neither on the load nor on the number of processes."""

from __future__ import annotations

import pytest

from gpu_workers.engine.answering.budget import BranchMeter, Spending
from gpu_workers.engine.answering.contract import Budget, Price
from gpu_workers.engine.models.device_rates import DeviceRate, DeviceRates
from gpu_workers.engine.models.roles import Meter, ModelCall

RATE = DeviceRate(fresh_us=100, cached_us=10, output_us=1_000, picture_us=5_000, request_us=2_000)
RATES = DeviceRates({"qwen": RATE}, hosted=frozenset({"gpt"}))


def test_device_time_is_tokens_times_the_models_rate() -> None:
    call = ModelCall(
        "answer", "qwen", 9_999, prompt_tokens=1_000, cached_tokens=600, completion_tokens=50, pictures=2, device_ms=1.0
    )
    # 400 x 0.1 + 600 x 0.01 + 50 x 1 + 2 x 5 + 2 ms
    assert RATES.attributed(call).device_ms == 108.0
    # A server that rounds up to blocks of its cache may report more cached than prompt tokens.
    rounded = ModelCall("answer", "qwen", 9_999, prompt_tokens=10, cached_tokens=16, completion_tokens=1)
    assert RATES.attributed(rounded).device_ms == 3.1


@pytest.mark.parametrize(
    ("call", "device_ms"),
    [
        # A provider's model uses no device of ours, also when it fails.
        (ModelCall("answer", "gpt", 4_000, prompt_tokens=100, device_ms=3_000.0), 0.0),
        # A model inside the process has measured its own share, and a call alone on its device its wall time.
        (ModelCall("embedding", "minilm", 40, prompt_tokens=100, device_ms=12.5), 12.5),
        (ModelCall("embedding", "minilm", 40, prompt_tokens=100), 40),
        # A server that reports no tokens is not free.
        (ModelCall("embedding", "qwen", 40, device_ms=12.5), 12.5),
        # The server refused, or hung until the time-out with nothing read.
        (ModelCall("answer", "qwen", 300_000, items=0, ok=False, device_ms=300_000.0), 0.0),
        # Cut: what the prompt takes, and no more than the call's own share.
        (ModelCall("answer", "qwen", 300_000, prompt_tokens=1_000, items=0, ok=False, device_ms=20_000.0), 102.0),
        (ModelCall("answer", "qwen", 50, prompt_tokens=1_000, items=0, ok=False, device_ms=40.0), 40.0),
    ],
)
def test_what_has_no_tokens_of_a_rated_model_is_attributed_what_it_measured(call: ModelCall, device_ms: float) -> None:
    assert RATES.attributed(call).billed_ms == device_ms


def test_every_meter_of_a_question_keeps_the_attributed_time() -> None:
    trunk = Meter(attribute=RATES.attributed)
    branch = BranchMeter(trunk)
    branch.record(ModelCall("answer", "qwen", 900, prompt_tokens=100, completion_tokens=1, device_ms=900.0))
    assert [call.device_ms for call in (*trunk.calls, *branch.calls)] == [13.0, 13.0]


def test_failed_calls_spend_nothing_of_a_budget() -> None:
    meter = Meter(attribute=RATES.attributed)
    prices = {"qwen": Price(prompt_per_million=1, per_second=1)}  # type: ignore[arg-type]
    spending = Spending(Budget(prices=prices), meter, clock=lambda: 0.0, should_stop=lambda: False)
    meter.record(ModelCall("answer", "qwen", 300_000, prompt_tokens=1_000, items=0, ok=False, device_ms=9_000.0))
    assert spending.usage().prompt_tokens == 0
    assert spending.usage().cost == 0
    meter.record(ModelCall("answer", "qwen", 300_000, prompt_tokens=1_000_000))
    assert str(spending.usage().cost) == "101.002"
