"""The device time of the same question on an idle and on a busy model server, asked by several processes."""

from __future__ import annotations

import multiprocessing
import statistics
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from bench.figures import Figures, at_most
from bench.model_server import ModelServer, Rates
from gpu_workers.engine.models.device_rates import DeviceRate, DeviceRates
from gpu_workers.engine.models.roles import ChatCapabilities, Message, Meter, ModelCall
from gpu_workers.engine.models.served.chat import OpenAIChatModel

RATES = Rates(latency_s=0.01, prefill=20_000.0, decode=600.0)
SLOTS = 8
LOAD, PROCESSES = 16, 2
PROMPTS = (400, 900, 2_500, 60)
"""Words of the prompts of one question, which are sent one after another."""
MAX_TOKENS = 24


@dataclass(frozen=True, slots=True)
class Asked:
    """One question. device_ms, wall_ms: sums over its calls, in milliseconds."""

    tenant: str
    calls: tuple[ModelCall, ...]

    @property
    def device_ms(self) -> float:
        return sum(call.billed_ms for call in self.calls)

    @property
    def wall_ms(self) -> int:
        return sum(call.wall_ms for call in self.calls)


def full_server(rates: Rates = RATES, slots: int = SLOTS) -> DeviceRate:
    """Return the device time of a token on a server that has all its slots busy: a slot's time over the slots."""
    return DeviceRate(
        fresh_us=1_000_000 / rates.prefill / slots,
        cached_us=0.0,
        output_us=1_000_000 / rates.decode / slots,
        request_us=1_000_000 * rates.latency_s / slots,
    )


def reply(request: Mapping[str, Any]) -> str:
    """Return as many tokens as the request allows."""
    return "word" * int(request["max_tokens"])


def ask(url: str, tenant: str) -> Asked:
    """Ask one question of a tenant, whose prompts share no cache with another tenant's."""
    model = OpenAIChatModel(
        base_url=url, model="scripted", api_key="none", capabilities=ChatCapabilities(32_768), concurrency=LOAD
    )
    meter = Meter(tenant, attribute=DeviceRates({"scripted": full_server()}).attributed)
    for step, words in enumerate(PROMPTS):
        prompt = f"Step {step}: " + "gate " * words
        model.sample([Message("user", (prompt,))], stage="answer", meter=meter, max_tokens=MAX_TOKENS)
    return Asked(tenant, meter.calls)


def ask_at_once(url: str, tenants: list[str]) -> list[Asked]:
    """Ask a question of each tenant at once, in this process."""
    with ThreadPoolExecutor(len(tenants)) as pool:
        return list(pool.map(lambda tenant: ask(url, tenant), tenants))


def ask_by_processes(url: str, *, load: int, processes: int) -> list[Asked]:
    """Ask load questions at once, divided between processes. Each has a cache of its own, as its tenant has."""
    tenants = [[f"tenant {k}" for k in range(process, load, processes)] for process in range(processes)]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        parts = pool.starmap(ask_at_once, [(url, part) for part in tenants])
    return [asked for part in parts for asked in part]


def load_1_and_16() -> Figures:
    """Measure one question alone, and sixteen at once by two processes on the same server."""
    with ModelServer(RATES, slots=SLOTS, words=reply) as server:
        alone = ask(server.url, "alone")
    with ModelServer(RATES, slots=SLOTS, words=reply) as server:
        crowd = ask_by_processes(server.url, load=LOAD, processes=PROCESSES)
        busy_ms = server.served().busy_s * 1000
    dearest = max(asked.device_ms for asked in crowd)
    wall = statistics.median(asked.wall_ms for asked in crowd) / alone.wall_ms
    reference = (
        f"{alone.device_ms:.1f} ms of device time alone, {dearest:.1f} ms at most among {LOAD} questions at once by "
        f"{PROCESSES} processes on {SLOTS} slots; the wall time of the calls grew {wall:.2f} times"
    )
    yield at_most("question_cost_load_16_vs_1", dearest / alone.device_ms, 1.1, reference)
    attributed = sum(asked.device_ms for asked in crowd)
    reference = (
        f"{attributed:.0f} ms attributed to {LOAD} questions, {busy_ms:.0f} ms of the server from the first request to "
        f"the last reply, {sum(asked.wall_ms for asked in crowd)} ms as the sum of wall times"
    )
    yield at_most("attributed_share_of_device_time", attributed / busy_ms, 1.0, reference)
