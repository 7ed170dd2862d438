"""Publishes the metrics by which groups of model servers are scaled: the requests that wait and run at each server.

The numbers are vLLM's own, from the server's /metrics. Nothing is published for a server without these numbers,
such as a hosted model. Behind a load balancer one machine answers, so the numbers are those of one machine, not of the
group.
"""

from __future__ import annotations

import logging
import math
import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import boto3
import httpx
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from gpu_workers.engine.models.model_table import ROLES, preset
from gpu_workers.engine.models.settings import ModelSettings

logger = logging.getLogger("ava.metrics")

WAITING = "ModelRequestsWaiting"
RUNNING = "ModelRequestsRunning"
SOURCES = {WAITING: "vllm:num_requests_waiting", RUNNING: "vllm:num_requests_running"}
"""vLLM's gauge for each metric."""
TOKENS = ("vllm:prompt_tokens_total", "vllm:generation_tokens_total")
"""vLLM's counters of the tokens that a server has read and written."""
WITH_TIMEOUTS = Config(connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 2})
"""Configuration of clients of CloudWatch, whose calls then end within a minute."""
STEP_SECONDS = 2.0
"""Longest wait for a connection and for each part of the answer."""
TOTAL_SECONDS = 5.0
"""Longest time for a whole answer."""
MOST_BYTES = 8 << 20
"""Longest answer. That of vLLM has some 100 KB."""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A configured model server. name: the preset's name of it, or its role where the preset has none. url: root of the
    server, without /v1."""

    name: str
    url: str
    api_key: str = field(default="", repr=False)


def configured_servers(env: Mapping[str, str] | None = None) -> list[ServerAddress]:
    """Return each model server of the environment once. Raises ValueError, naming the variable, for a bad value."""
    settings = ModelSettings.from_env(env)
    chosen = preset(settings.preset)
    found: dict[str, ServerAddress] = {}
    for role in ROLES:
        server = settings.role(role)
        if server.url:
            root = server.url.removesuffix("/v1").rstrip("/")
            found.setdefault(root, ServerAddress(chosen.roles.get(role, role), root, server.api_key))
    return list(found.values())


def publish_server_loads(namespace: str, servers: list[ServerAddress]) -> None:
    """Read all servers at once and publish what they report. Faults are logged, not raised."""
    if not servers:
        return
    with ThreadPoolExecutor(len(servers)) as pool:
        loads = list(pool.map(read_load, servers))
    data = [point for server, load in zip(servers, loads, strict=True) for point in server_data(server.name, load)]
    if data:
        try:
            # A session of its own, because boto3's shared one is not safe between threads.
            boto3.Session().client("cloudwatch", config=WITH_TIMEOUTS).put_metric_data(
                Namespace=namespace, MetricData=data
            )
        except (BotoCoreError, ClientError):
            logger.exception("loads of the model servers could not be published")


def server_data(name: str, load: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the CloudWatch data of one server's load."""
    dimensions = [{"Name": "Server", "Value": name}]
    return [
        {"MetricName": metric, "Dimensions": dimensions, "Unit": "Count", "Value": value}
        for metric, value in load.items()
    ]


def read_load(server: ServerAddress, *, clock: Callable[[], float] = time.monotonic) -> dict[str, float]:
    """Return the value of each metric that the server reports; empty if it cannot be reached or reports none."""
    return parse_load(read_metrics(server, clock=clock).text)


@dataclass(frozen=True, slots=True)
class Reading:
    """The metrics of a server in Prometheus' text format, or why it has none: one of the two is ""."""

    text: str = ""
    error: str = ""


def read_metrics(server: ServerAddress, *, clock: Callable[[], float] = time.monotonic) -> Reading:
    """Return the server's metrics, or why it reports none. Names no address."""
    headers = {"Authorization": f"Bearer {server.api_key}"} if server.api_key else {}
    deadline = clock() + TOTAL_SECONDS
    body = bytearray()
    try:
        with (
            httpx.Client(timeout=STEP_SECONDS) as client,
            client.stream("GET", f"{server.url}/metrics", headers=headers) as response,
        ):
            if response.status_code != 200:
                logger.debug("model server %s answers /metrics with %d", server.name, response.status_code)
                return Reading(error=f"answers {response.status_code}")
            for part in response.iter_bytes():
                body += part
                if clock() > deadline or len(body) > MOST_BYTES:
                    logger.warning("model server %s does not finish its /metrics", server.name)
                    return Reading(error="does not finish its answer")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        logger.info("model server %s reports no metrics: %r", server.name, error)
        return Reading(error=type(error).__name__)
    text = body.decode("utf-8", "replace")
    return Reading(text) if text else Reading(error="empty answer")


def parse_load(text: str) -> dict[str, float]:
    """Return the value of each metric in Prometheus' text format, summed over a server's engines."""
    sums = {metric: _sum(text, source) for metric, source in SOURCES.items()}
    return {metric: value for metric, value in sums.items() if value is not None}


def parse_tokens(text: str) -> float | None:
    """Return the tokens that a server has read and written since its start; None if it does not count them."""
    read, written = (_sum(text, source) for source in TOKENS)
    return None if read is None or written is None else read + written


def _sum(text: str, source: str) -> float | None:
    samples = re.findall(rf"^{re.escape(source)}(?:\{{.*\}})?[ \t]+(\S+)", text, flags=re.M)
    values = [value for sample in samples if (value := _number(sample)) is not None]
    return sum(values) if values else None


def _number(sample: str) -> float | None:
    try:
        value = float(sample)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
