"""Prints the figures of answering, one JSON line each: python -m bench.answer [--only NAME].

Exits with status 1 if a figure misses its target, or if the measurement itself fails with a traceback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.runner import print_figures
from gpu_workers.engine.answering.catalogue import METHOD_SETTINGS

METHOD_KINDS = ("calls", "fresh_tokens", "cached_share", "own_cached_share", "growth", "seconds")

FIGURES: Mapping[str, tuple[str, str]] = {
    "tri_view_vs_numpy": ("retrieval", "million_frames"),
    "tri_view_recall_at_16": ("retrieval", "million_frames"),
    "graph_hop_vs_row": ("retrieval", "million_frames"),
    "graph_expansion_p95_ms": ("retrieval", "million_frames"),
    "search_1000h_p95_ms": ("collection", "thousand_hours"),
    "search_1000h_growth": ("collection", "thousand_hours"),
    "search_1000h_question_p95_ms": ("collection", "thousand_hours"),
    "search_1000h_recall_at_16": ("collection", "thousand_hours"),
    "search_1000h_recall_of_views": ("collection", "thousand_hours"),
    "search_1000h_recall_of_views_of_question": ("collection", "thousand_hours"),
    "search_1000h_sketches_mb": ("collection", "thousand_hours"),
    "cold_search_vs_warm": ("cold_search", "cold_search"),
    "cold_search_new_worker_vs_warm": ("cold_search", "cold_search"),
    "disk_mb_an_hour": ("cold_search", "cold_search"),
    "paper_prompt_tokens": ("answer_calls", "tokens"),
    "paper_calls": ("answer_calls", "tokens"),
    "paper_cached_prompt_share": ("answer_calls", "tokens"),
    "ours_prompt_tokens_share": ("answer_calls", "tokens"),
    "paper_speedup": ("answer_calls", "speedup"),
    "depth_3_over_depth_1": ("answer_calls", "depth"),
    "answer_p50_s": ("answer_calls", "waits"),
    "answer_vs_ava": ("answer_peer", "against_the_published_code"),
    "answer_vs_ava_in_doubt": ("answer_peer", "against_the_published_code"),
    "answer_events": ("answer_prompts", "events"),
    "judged_without_events": ("answer_prompts", "judgements"),
    "sql_guard_writes": ("hostile_sql", "sql_guard"),
    "sql_guard_foreign_names": ("hostile_sql", "sql_guard"),
    "sql_guard_worst_ms": ("hostile_sql", "sql_guard"),
    "sql_guard_answered": ("hostile_sql", "sql_guard"),
    "programs_exceptions": ("random_programs", "programs"),
    "programs_most_reads_share": ("random_programs", "programs"),
    "programs_most_calls": ("random_programs", "programs"),
    "programs_checked_share": ("random_programs", "programs"),
    "worker_memory": ("worker_memory", "query_worker"),
    "question_cost_load_16_vs_1": ("device_time", "load_1_and_16"),
    "attributed_share_of_device_time": ("device_time", "load_1_and_16"),
    **{f"{name}_{kind}": ("method_calls", "methods") for name in METHOD_SETTINGS for kind in METHOD_KINDS},
    "glance_vs_uniform": ("tape_glance", "glance_vs_uniform"),
}
"""Every figure, with the module of this package and the function that measures it. One function may measure several."""


def main(arguments: Sequence[str] | None = None) -> int:
    return print_figures(FIGURES, __doc__, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
