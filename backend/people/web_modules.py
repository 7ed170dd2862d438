"""The modules of the web app: which of them a page runs, so that a browser fetches all at once.

A browser finds the imports of a module only when the module has arrived. Over a slow connection each of these steps is
a round trip, so the page names the modules of its address in advance (`modulepreload`). What is named comes from the
sources themselves. A process reads them once.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from django.templatetags.static import static

PROJECT = Path(__file__).resolve().parents[2]
WEB = PROJECT / "web"
PLAYER = PROJECT / "backend" / "playback" / "static" / "playback"
BARE = {
    "lit": WEB / "vendor" / "lit-element.js",
    "lit-html": WEB / "vendor" / "lit-html.js",
    "@lit/reactive-element": WEB / "vendor" / "reactive-element.js",
    "intl-messageformat": WEB / "vendor" / "intl-messageformat.js",
    "ava-player": PLAYER / "player.js",
}
"""Modules that are imported by a bare name, as in the import map of the page."""
ENTRY = WEB / "app" / "main.js"
"""The module with which the app begins."""
_STATIC = re.compile(
    r'^(?:import|export)\b[^;]*?from\s*"([^"]+)"|^import\s*"([^"]+)"|from"((?:\./|@?lit)[^"]*)"', re.MULTILINE
)
_PAGE = re.compile(r'^  \["([^"]*)", "(\w+)"\],$', re.MULTILINE)
"""A line of web/app/router.js: address below the tenant's, and page."""
_MODULE = re.compile(r'^  (\w+): \(\) => import\("([^"]+)"\),$', re.MULTILINE)
"""A line of web/app/main.js: page, and its module."""


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


@cache
def page_modules() -> dict[str, Path]:
    """Return the modules of the pages by the pattern of their addresses, such as `videos/:video`."""
    modules = dict(_MODULE.findall(ENTRY.read_text()))
    pages = _PAGE.findall((WEB / "app" / "router.js").read_text())
    return {pattern: (ENTRY.parent / modules[page]).resolve() for pattern, page in pages}


@cache
def _preloads(pattern: str | None) -> tuple[str, ...]:
    found = reached(ENTRY) | (set() if pattern is None else reached(page_modules()[pattern]))
    return tuple(sorted(static(f"web/{module.relative_to(WEB)}") for module in found))


def preloads(rest: str) -> tuple[str, ...]:
    """Return the addresses of the modules that a page runs. rest: its address below /app/."""
    parts = [part for part in rest.split("/") if part][1:]
    fits = (
        pattern
        for pattern in page_modules()
        if len(names := [name for name in pattern.split("/") if name]) == len(parts)
        and all(name.startswith(":") or name == part for name, part in zip(names, parts, strict=True))
    )
    return _preloads(next(fits, None))
