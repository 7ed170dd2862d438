"""What a page of the app makes a person wait for, over a slow connection with a slow processor, in Chromium.

Google's names: LCP is when the largest part of the page is drawn, CLS how much it jumps, INP how long the slowest
reaction takes until the screen shows it. The service runs as `make up` runs it, without HTTP/2 and compression by a
proxy. Needs Chromium.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx

from bench.figures import Figures, at_most, show_progress
from bench.stack import NOT_USED
from infra.local import ports
from infra.local.app_processes import app_processes
from infra.local.stack import Stack

SLOWER = 4
"""Factor by which the processor is slowed down."""
BYTES_PER_S, ROUND_TRIP_MS = 200_000, 150
"""A slow mobile connection: 1.6 Mbit/s."""
LCP_MS = {"library": 2_500, "watch": 3_000}
CLS, INP_MS = 0.05, 200
HEAP_MB, UPLOAD_BYTES = 150, 200_000_000
TURNS = 5
PATIENCE_S, START_S = 60.0, 300.0
_WATCHED = """
  window.seen = {lcp: 0, element: '', cls: 0, inp: 0};
  const watch = (type, note, more = {}) =>
    new PerformanceObserver(list => list.getEntries().forEach(note)).observe({type, buffered: true, ...more});
  watch('largest-contentful-paint', each => {
    window.seen.lcp = each.startTime; window.seen.element = each.element?.outerHTML.slice(0, 100) ?? ''; });
  watch('layout-shift', each => { if (!each.hadRecentInput) window.seen.cls += each.value; });
  watch('event', each => { if (each.interactionId) window.seen.inp = Math.max(window.seen.inp, each.duration); },
    {durationThreshold: 16});
"""


@dataclass(frozen=True, slots=True)
class World:
    """A service with a tenant that has videos. paths: of its pages."""

    site: str
    cast: Any
    slug: str
    cookies: dict[str, str]
    video: str
    rendition: Path


def figures() -> Figures:
    """Yield the figures of pages, and of the memory of an upload."""
    with world() as made:
        yield from _pages(made)
        yield from _heap(made)


@contextmanager
def world() -> Iterator[World]:
    """Start the service with a library. Once per process, because Django is set up here."""
    root = Path(tempfile.mkdtemp(prefix="ava-bench-"))
    # An unprivileged server process must be able to enter it.
    root.chmod(0o755)
    servers = frozenset({"postgres", "pgbouncer", "valkey", "seaweedfs"})
    try:
        with Stack(root, servers, durable=False, environ={**os.environ}) as stack, ExitStack() as running:
            port = ports.claim(stack.state, "api")
            site = f"http://localhost:{port}"
            own = {"DJANGO_SETTINGS_MODULE": "backend.settings", "AVA_PUBLIC_URL": site}
            settings = {**NOT_USED, **stack.env(), **own}
            env = {**os.environ, **settings}
            for command in (["provision"], ["migrate", "--noinput", "--database", "owner", "-v0"]):
                subprocess.run([sys.executable, "manage.py", *command], check=True, env=env, stdout=2)
            running.enter_context(patch.dict(os.environ, settings))
            process = next(each for each in app_processes(port) if each.name == "api")
            log = running.enter_context((root / "api.log").open("wb"))
            child = subprocess.Popen(process.arguments, env=process.environment(env), stdout=log, stderr=log)
            running.callback(child.wait, PATIENCE_S)
            running.callback(child.terminate)
            _wait_until_ready(site, root / "api.log")
            yield _furnished(site, root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _wait_until_ready(site: str, log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{site}/readyz", trust_env=False, timeout=PATIENCE_S).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"the API did not start:\n{log.read_text()[-3000:]}")


def _furnished(site: str, root: Path) -> World:
    import django

    django.setup()
    from backend.api.public_ids import encode
    from tests.conftest import make_tenant
    from tests.people.cast import Browser, member_of
    from tests.web.app import written_rendition
    from tests.web.crossing import crossing

    cast = make_tenant("bench")
    made = [crossing(cast, title=f"Crossing {n}") for n in range(12)][-1]
    browser = Browser(member_of(cast, "owner").person)
    cookies = {name: each.value for name, each in browser.cookies.items()}
    folder = root / "rendition"
    folder.mkdir()
    return World(site, cast, cast.slug, cookies, encode("vid", made.video_id), written_rendition(folder))


@contextmanager
def opened(made: World, *, slow: bool) -> Iterator[Any]:
    """Open a tab of a new browser, in which nothing is kept."""
    from tests.browser.chromium import launched
    from tests.web.app import OPTIONS, WIDE, play

    with launched(*OPTIONS) as browser:
        context = browser.new_context(viewport=WIDE, locale="en-GB")
        context.add_cookies([{"name": name, "value": value, "url": made.site} for name, value in made.cookies.items()])
        page = context.new_page()
        play(page, made.rendition)
        page.add_init_script(_WATCHED)
        if slow:
            devtools = context.new_cdp_session(page)
            devtools.send("Network.enable")
            link = {"offline": False, "latency": ROUND_TRIP_MS, "downloadThroughput": BYTES_PER_S}
            devtools.send("Network.emulateNetworkConditions", {**link, "uploadThroughput": BYTES_PER_S})
            devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        yield page


def _seen(made: World, path: str, act: Callable[[Any], None] = lambda page: None) -> dict[str, Any]:
    """Return what a person sees of a page. act: what the person does there."""
    with opened(made, slow=True) as page:
        page.goto(f"{made.site}/app/{made.slug}/{path}")
        page.locator("main .page").first.wait_for()
        page.wait_for_function("() => !document.querySelector('main .bones')")
        page.wait_for_load_state("networkidle")
        act(page)
        page.wait_for_timeout(1_000)
        seen: dict[str, Any] = page.evaluate("window.seen")
        return seen


def _pages(made: World) -> Figures:
    for name, path in (("library", "library"), ("watch", f"videos/{made.video}")):
        seen = [_seen(made, path) for _ in range(TURNS)]
        show_progress(f"{name}: LCP {[round(each['lcp']) for each in seen]} ms, of {seen[0]['element']}")
        reference = f"median of {TURNS} views, processor {SLOWER} times slower, 1.6 Mbit/s, {ROUND_TRIP_MS} ms"
        yield at_most(f"web_{name}_lcp_ms", statistics.median(each["lcp"] for each in seen), LCP_MS[name], reference)
        yield at_most(f"web_{name}_cls", max(each["cls"] for each in seen), CLS, f"largest of {TURNS} views")
    acts = {"ask": _ask, "tab": _switch, "seek": _seek}
    for name, act in acts.items():
        slowest = [_seen(made, f"videos/{made.video}", act)["inp"] for _ in range(TURNS)]
        show_progress(f"{name}: INP {slowest} ms")
        yield at_most(f"web_{name}_inp_ms", statistics.median(slowest), INP_MS, f"median of {TURNS} turns")


def _ask(page: Any) -> None:
    page.get_by_label("Your question").click()
    page.keyboard.type("What stops?")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Stop").wait_for()


def _switch(page: Any) -> None:
    for name in ("Events", "Objects", "Ask"):
        page.get_by_role("tab", name=name).click()


def _seek(page: Any) -> None:
    page.locator(".tl-stage").click(position={"x": 400, "y": 60})
    page.keyboard.press("l")


def _heap(made: World) -> Figures:
    """Measure the memory of JavaScript while a file of 200 MB is sent."""
    with tempfile.TemporaryDirectory() as folder, opened(made, slow=False) as page:
        path = Path(folder) / "long.mp4"
        with path.open("wb") as file:
            file.truncate(UPLOAD_BYTES)
        devtools = page.context.new_cdp_session(page)
        page.goto(f"{made.site}/app/{made.slug}/library")
        page.locator("#files").set_input_files(path)
        most, done = 0.0, page.get_by_text("Queued for indexing")
        while not done.count():
            usage = devtools.send("Runtime.getHeapUsage")
            # The bytes of parts lie outside of the heap itself.
            most = max(most, (usage["usedSize"] + usage.get("backingStorageSize", 0)) / 1e6)
            page.wait_for_timeout(50)
        yield at_most("web_upload_heap_mb", most, HEAP_MB, f"largest while {UPLOAD_BYTES / 1e6:.0f} MB are sent")
