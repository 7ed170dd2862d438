"""`make bench-web`: what the web app loads, what its streams cost, how long pages take, how smooth the timeline is.

python -m bench.web [--only sizes|streams|pages|pan]. Exits with status 1 if a figure misses its target.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from backend.people.web_modules import ENTRY, PLAYER, WEB, reached
from bench import web_pages, web_pan, web_streams
from bench.figures import Figures, print_lines

MEASURES: Mapping[str, Callable[[], Figures]] = {
    "streams": web_streams.figures,
    "pages": web_pages.figures,
    "pan": web_pan.figures,
}


def entry_modules() -> set[Path]:
    return reached(ENTRY)


def sheets() -> set[Path]:
    """Return the style sheets of the page."""
    return {*WEB.rglob("*.css"), PLAYER / "player.css"}


def gzipped(files: Iterable[Path]) -> int:
    """Return the bytes of all files, each compressed by itself."""
    return sum(len(gzip.compress(file.read_bytes())) for file in files)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", choices=["", "sizes", *MEASURES])
    only = parser.parse_args(arguments).only
    if only in ("", "sizes"):
        _print_sizes()
    if only in MEASURES:
        return 0 if print_lines(MEASURES[only]()) else 1
    # Each in a process of its own, because Django keeps the database of the first service.
    names = [] if only else list(MEASURES)
    return max(
        (subprocess.run([sys.executable, "-m", "bench.web", "--only", name]).returncode for name in names), default=0
    )


def _print_sizes() -> None:
    entry = entry_modules()
    figures = [("entry", entry), ("sheets", sheets())]
    figures += [(page.stem, reached(page) - entry) for page in sorted(WEB.glob("pages/*.js"))]
    figures += [
        ("watch", reached(WEB / "player" / "watch.js") - entry),
        ("ask", reached(WEB / "ask" / "page.js") - entry),
    ]
    player = reached(PLAYER / "player.js")
    figures += [("player", player - {PLAYER / "vendor" / "hls.js"}), ("hls", {PLAYER / "vendor" / "hls.js"})]
    for name, files in figures:
        print(json.dumps({"figure": f"web_{name}_gzip_bytes", "value": gzipped(files), "files": len(files)}))


if __name__ == "__main__":
    sys.exit(main())
