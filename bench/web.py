"""`make bench-web`: the sizes of what a browser loads for the web app, and what open streams cost, one JSON line each.

python -m bench.web [--only sizes|streams]. Exits with status 1 if a figure misses its target.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench import web_streams
from bench.figures import print_lines

PROJECT = Path(__file__).resolve().parents[1]
WEB = PROJECT / "web"
PLAYER = PROJECT / "backend" / "playback" / "static" / "playback"
BARE = {
    "lit": WEB / "vendor" / "lit-element.js",
    "lit-html": WEB / "vendor" / "lit-html.js",
    "@lit/reactive-element": WEB / "vendor" / "reactive-element.js",
    "intl-messageformat": WEB / "vendor" / "intl-messageformat.js",
    "ava-player": PLAYER / "player.js",
}
_STATIC = re.compile(
    r'^(?:import|export)\b[^;]*?from\s*"([^"]+)"|^import\s*"([^"]+)"|from"((?:\./|@?lit)[^"]*)"', re.MULTILINE
)


def reached(start: Path) -> set[Path]:
    """Return the modules that the browser loads for a module before it runs, without those that are loaded later."""
    found: set[Path] = set()
    waiting = [start]
    while waiting:
        module = waiting.pop()
        if module in found:
            continue
        found.add(module)
        for groups in _STATIC.findall(module.read_text()):
            name = next(filter(None, groups))
            waiting.append(BARE.get(name) or (module.parent / name).resolve())
    return found


def entry_modules() -> set[Path]:
    return reached(WEB / "app" / "main.js")


def sheets() -> set[Path]:
    """Return the style sheets of the page."""
    return {*WEB.rglob("*.css"), PLAYER / "player.css"}


def gzipped(files: Iterable[Path]) -> int:
    """Return the bytes of all files, each compressed by itself."""
    return sum(len(gzip.compress(file.read_bytes())) for file in files)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", choices=["", "sizes", "streams"])
    only = parser.parse_args(arguments).only
    if only != "streams":
        _print_sizes()
    return 0 if only == "sizes" or print_lines(web_streams.figures()) else 1


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
