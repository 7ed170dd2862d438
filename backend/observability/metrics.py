"""The numbers that the API and the workers count. No label names a tenant, a video or anything else of a customer.

Model calls are counted where they are metered (gpu_workers.engine.models.call_metrics); what only the database knows
is read by the relay (workers.metrics.queue_gauges).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client import Counter, Histogram

JOB_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_200)
LAG_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 86_400, 345_600)

REQUESTS = Histogram(
    "ava_http_request_seconds",
    "Time until a view of the API returned, by route. A reply that waits or streams counts until it begins to.",
    ["method", "route", "status"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
CLAIMS = Counter(
    "ava_job_claims",
    "Jobs that workers claimed. how: next in the queue, or taken over because a lease had expired.",
    ["queue", "kind", "how"],
)
JOBS = Histogram(
    "ava_job_seconds",
    "Time that one attempt of a job took, by its outcome.",
    ["kind", "outcome"],
    buckets=JOB_SECONDS,
)
DEAD = Counter("ava_jobs_dead", "Jobs that used up their attempts or their time.", ["kind"])
OUTAGES = Counter(
    "ava_job_outages",
    "Jobs that were put back because something that they need was away.",
    ["dependency"],
)
SIGNED = Counter(
    "ava_signer_requests", "Requests of jobs to the signer, by operation and outcome.", ["operation", "outcome"]
)
GAPS = Counter("ava_chunk_gaps", "Chunks of video that were stored without a description, by the reason.", ["code"])
SEGMENTS_GIVEN_UP = Counter(
    "ava_segments_given_up",
    "Segments that failed for reasons of the service and are not retried any more.",
)
"""Without a label: a series that begins with its first count is no increase to Prometheus."""
CHUNKS = Counter("ava_chunks", "Chunks of video that were stored, gaps included.")
STAGES = Histogram(
    "ava_stage_seconds",
    "Time that a stage of indexing (of one segment) or of answering (of one question) took.",
    ["work", "stage"],
    buckets=JOB_SECONDS,
)
WEBHOOK_ATTEMPTS = Counter("ava_webhook_attempts", "Attempts to deliver a webhook, by the outcome.", ["outcome"])
WEBHOOK_LAG = Histogram(
    "ava_webhook_lag_seconds",
    "Time from an event to its successful delivery.",
    buckets=LAG_SECONDS,
)


def count_gaps(codes: Iterable[str | None]) -> None:
    """Count stored chunks by their gap code; None is a chunk with a description."""
    for code in codes:
        CHUNKS.inc()
        if code:
            GAPS.labels(code).inc()


def observe_stages(work: str, stage_ms: Mapping[str, float]) -> None:
    """Record the stages of one segment or question. stage_ms: milliseconds by stage."""
    for stage, ms in stage_ms.items():
        STAGES.labels(work, stage).observe(ms / 1000)


def count_webhook_attempt(*, error_code: str, lag_s: float | None) -> None:
    """Count an attempt. error_code: "" for a delivery. lag_s: seconds since the event, None for a replay."""
    WEBHOOK_ATTEMPTS.labels(error_code or "delivered").inc()
    if not error_code and lag_s is not None:
        WEBHOOK_LAG.observe(max(0.0, lag_s))
