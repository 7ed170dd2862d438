"""`make bench-web`: the sizes of what a browser loads for the web app, one JSON line each."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

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


def main() -> int:
    """Print the figures. Returns the exit status."""
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
