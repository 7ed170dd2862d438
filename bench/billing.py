"""Prints how fast usage is rated and how far estimates are from charges, one JSON line each.

python -m bench.billing [--only NAME]

Exits with status 1 if a figure misses its target, or if the measurement itself fails with a traceback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.runner import print_figures

FIGURES: Mapping[str, tuple[str, str]] = {
    "rated_events_per_s": ("billing_rating", "rated"),
    "billed_events_per_s": ("billing_rating", "rated"),
    "question_estimate_error": ("billing_estimates", "estimated"),
    "question_estimate_covered": ("billing_estimates", "estimated"),
    "question_estimate_sum": ("billing_estimates", "estimated"),
    "video_estimate_error": ("billing_estimates", "estimated"),
    "video_estimate_error_by_size": ("billing_estimates", "estimated"),
    "video_estimate_covered_by_size": ("billing_estimates", "estimated"),
}
"""Every figure, with the module of this package and the function that measures it. One function may measure several."""


def main(arguments: Sequence[str] | None = None) -> int:
    return print_figures(FIGURES, __doc__, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
