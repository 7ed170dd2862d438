"""Prints the figures of indexing, one JSON line each: python -m bench.index [--only NAME].

Exits with status 1 if a figure misses its target, or if the measurement itself fails with a traceback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.runner import print_figures

FIGURES: Mapping[str, tuple[str, str]] = {
    "decode_sample_hd": ("decode", "hd"),
    "decode_sample_hd_segments": ("decode", "hd"),
    "decode_skip_hd": ("decode", "hd"),
    "decode_box_hd": ("decode", "hd"),
    "decode_sample_hd_without_b_frames": ("decode", "hd_without_b_frames"),
    "decode_sample_hd_without_b_frames_segments": ("decode", "hd_without_b_frames"),
    "decode_skip_hd_without_b_frames": ("decode", "hd_without_b_frames"),
    "decode_box_hd_without_b_frames": ("decode", "hd_without_b_frames"),
    "pipeline_hd": ("pipeline", "hd"),
    "pipeline_hd_without_b_frames": ("pipeline", "hd_without_b_frames"),
    "pipeline_frames_at_hand": ("pipeline", "frames_at_hand"),
    "pipeline_peak_memory": ("pipeline", "memory"),
    "similarity_time": ("similarity", "time_of_merging"),
    "similarity_time_segments": ("similarity", "time_of_merging"),
    "similarity_scores": ("similarity", "equality"),
    "similarity_memory": ("similarity", "memory"),
    "linking_memory": ("linking", "memory"),
    "linking_postgres": ("linking", "postgres"),
    "linking_quality": ("linking", "quality"),
    "linking_roles": ("linking", "roles"),
    "served_hour_tasks": ("served", "hour_of_tasks"),
    "served_hour_tasks_64_slots": ("served", "hour_of_tasks_with_64_slots"),
    "describe_tokens": ("perception", "tokens"),
    "index_tokens_vs_ava": ("perception", "tokens"),
    "static_calls": ("perception", "still"),
    "still_hour_events": ("perception", "still_hour"),
    "still_hour_calls": ("perception", "still_hour"),
    "still_hour_answer_tokens": ("perception", "still_hour"),
    "embedded_real_time": ("embedded", "real_time"),
}
"""Every figure, with the module of this package and the function that measures it. One function may measure several."""


def main(arguments: Sequence[str] | None = None) -> int:
    return print_figures(FIGURES, __doc__, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
