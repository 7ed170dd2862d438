"""Prints the figures of the job queue, one JSON line each: python -m bench.jobs [--only NAME].

Exits with status 1 if a figure misses its target, or if the measurement itself fails with a traceback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.runner import print_figures

FIGURES: Mapping[str, tuple[str, str]] = {
    "claim_and_commit_per_s": ("job_claims", "claims"),
    "claim_and_commit_processor_ms": ("job_claims", "claims"),
    "fair_claim_p95_ms": ("job_claims", "claims"),
    "fair_claim_over_short_queue": ("job_claims", "claims"),
    "newcomer_jobs_before": ("job_claims", "claims"),
    "idle_relay_share_of_core": ("idle_relay", "idle_relay"),
    "slow_peers_probe_p95_ratio": ("slow_peers", "slow_peers"),
    "slow_peers_webhook_p95_ratio": ("slow_peers", "slow_peers"),
    "slow_peers_deletion_p95_ratio": ("slow_peers", "slow_peers"),
    "signed_segment_ratio": ("signing", "signing"),
    "drain_lease_free_s": ("draining", "drains"),
    "drain_taken_over_s": ("draining", "drains"),
    "spot_lease_free_s": ("draining", "drains"),
    "spot_taken_over_s": ("draining", "drains"),
}
"""Every figure, with the module of this package and the function that measures it. One function may measure several."""


def main(arguments: Sequence[str] | None = None) -> int:
    return print_figures(FIGURES, __doc__, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
