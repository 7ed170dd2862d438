"""Prints the figures of playback, timelines and clips, one JSON line each: python -m bench.playback [--only NAME].

Exits with status 1 if a figure misses its target, or if the measurement itself fails with a traceback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.runner import print_figures

FIGURES: Mapping[str, tuple[str, str]] = {
    "playback_cost_copy": ("renditions", "rendition_cost"),
    "playback_cost_transcode": ("renditions", "rendition_cost"),
    "playback_cost_storyboard": ("renditions", "rendition_cost"),
    "playlist_kb": ("renditions", "playlist_size"),
    "seek_mb": ("renditions", "playlist_size"),
    "timeline_kb": ("timelines", "timeline"),
    "timeline_p95_ms": ("timelines", "timeline"),
    "clip_begin_off_ms": ("clips", "clips"),
    "clip_end_off_ms": ("clips", "clips"),
    "clips_question_p95_ratio": ("clips", "clips"),
}
"""Every figure, with the module of this package and the function that measures it. One function may measure several."""


def main(arguments: Sequence[str] | None = None) -> int:
    return print_figures(FIGURES, __doc__, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
