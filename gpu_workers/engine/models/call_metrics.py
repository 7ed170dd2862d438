"""What model calls cost, counted for the operator: latency, tokens and failures by stage and model.

Models are few and named by the operator. No label names a tenant. A call outside a served process is counted too, and
nobody reads the count.
"""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import Counter, Histogram

SECONDS = Histogram(
    "ava_model_call_seconds",
    "Time of one model call without the wait for a slot, by stage and model. ok: whether it was answered.",
    ["stage", "model", "ok"],
    buckets=(0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300),
)
TOKENS = Counter(
    "ava_model_tokens",
    "Tokens of model calls. direction: prompt (cached ones included), cached or completion.",
    ["model", "direction"],
)


def count(stage: str, model: str, *, ok: bool, wall_ms: int, tokens: Mapping[str, int]) -> None:
    """Count one call. tokens: by direction."""
    SECONDS.labels(stage, model, "true" if ok else "false").observe(wall_ms / 1000)
    for direction, number in tokens.items():
        if number:
            TOKENS.labels(model, direction).inc(number)
