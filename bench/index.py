"""Prints the figures of indexing, one JSON line each: python -m bench.index [--only NAME].

Exit status 0 whether or not every figure holds; anything else is a fault of the measurement itself.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable, Mapping, Sequence

from bench.figures import Figures, tell

FIGURES: Mapping[str, tuple[str, str]] = {
    "decode_sample_hd": ("decode", "hd"),
    "decode_sample_hd_segments": ("decode", "hd"),
    "decode_skip_hd": ("decode", "hd"),
    "decode_sample_hd_without_b_frames": ("decode", "hd_without_b_frames"),
    "decode_sample_hd_without_b_frames_segments": ("decode", "hd_without_b_frames"),
    "decode_skip_hd_without_b_frames": ("decode", "hd_without_b_frames"),
    "pipeline_hd": ("pipeline", "hd"),
    "pipeline_hd_without_b_frames": ("pipeline", "hd_without_b_frames"),
    "pipeline_frames_at_hand": ("pipeline", "frames_at_hand"),
    "pipeline_peak_memory": ("pipeline", "memory"),
    "similarity_time": ("similarity", "time_of_merging"),
    "similarity_scores": ("similarity", "equality"),
    "similarity_memory": ("similarity", "memory"),
    "linking_memory": ("linking", "memory"),
    "linking_postgres": ("linking", "postgres"),
    "linking_quality": ("linking", "quality"),
    "served_hour": ("served", "hour"),
    "embedded_real_time": ("embedded", "real_time"),
}
"""Every figure, with the module of this package and the function that measures it; a function may give several.

A module is imported when it is wanted: some of them load models.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="NAME", help="a part of the names of the figures wanted")
    only = parser.parse_args(arguments).only
    wanted = dict.fromkeys(place for name, place in FIGURES.items() if only in name)
    if not wanted:
        parser.error(f"no figure is called like {only!r}: {', '.join(FIGURES)}")
    for module, function in wanted:
        begun = time.monotonic()
        tell(f"{module}.{function} …")
        measure: Callable[[], Figures] = getattr(importlib.import_module(f"bench.{module}"), function)
        for figure in measure():
            if only in figure.name:
                print(figure.line(), flush=True)
        tell(f"{module}.{function}: {time.monotonic() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
