"""The app in Chromium: a person who is signed in, and a list of everything that the browser complains about."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from django.core.cache import cache
from django.core.handlers.wsgi import WSGIHandler
from django.test import override_settings

from backend.api.server.serving import Server
from backend.people.models import Person
from infra.sample_video import OUT
from tests.browser.chromium import (
    PATIENCE_MS,
    in_a_thread,
    launched,
    listened,
    overhang,
    pictured,
    serious_faults,
)
from tests.browser.hls import KINDS, make_rendition
from tests.conftest import Cast
from tests.people.cast import Browser, member_of

OPTIONS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--autoplay-policy=no-user-gesture-required",
)  # fmt: skip
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
LOOKS = (("light", WIDE), ("dark", PHONE), ("dark", WIDE), ("light", PHONE))
MEDIA = re.compile(r"/v1/videos/[^/]+/(hls/)?[^/?]+\.(m3u8|mp4|vtt|jpg)(\?|$)")
_TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


@dataclass
class App:
    """A browser with the app. said: what the browser has complained about; a test clears what it expects."""

    page: Any
    site: str
    slug: str
    said: list[str]
    asked: list[str]
    """Requests of the app to the API, in order: method and path."""

    def open(self, path: str) -> None:
        """Open a page of the tenant and wait until it is there."""
        self.page.goto(f"{self.site}/app/{self.slug}/{path}")
        self.settle()

    def settle(self) -> None:
        """Wait until nothing loads any more."""
        self.page.locator("main .page").first.wait_for()
        self.page.wait_for_function("() => !document.querySelector('main .bones')")
        self.page.wait_for_load_state("networkidle")

    def check(self, name: str, *, looks: Any = LOOKS) -> None:
        """Check the open page in both themes, on a phone and on a desk: pictures, axe, and that it fits."""
        for scheme, size in looks:
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            self.page.set_viewport_size(size)
            self.page.evaluate(_TWO_FRAMES)  # the canvases draw in the next frame
            pictured(self.page, f"app-{name}-{size['width']}-{scheme}")
            known = len(self.said)
            faults = serious_faults(self.page)
            assert not faults, (name, scheme, size, faults)
            # axe copies the controls of the player with the styles that they have, which the policy refuses.
            self.said[known:] = [each for each in self.said[known:] if not each.startswith("Applying inline style")]
            assert overhang(self.page) <= 0, (name, size)
        self.page.set_viewport_size(WIDE)

    def sign_in(self, who: Person, slug: str = "") -> None:
        """Give the browser a session of a person."""
        cookies = in_a_thread(lambda: {name: each.value for name, each in Browser(who).cookies.items()})
        self.page.context.add_cookies(
            [{"name": name, "value": value, "url": self.site} for name, value in cookies.items()]
        )
        self.slug = slug or self.slug


class _Api(uvicorn.Server):
    """The API's own server on a thread of this process: open replies hear of changes, as they do when deployed."""

    def __init__(self) -> None:
        self.application = Server(WSGIHandler())
        super().__init__(uvicorn.Config(self.application, port=0, lifespan="off", log_config=None))
        self.ready = threading.Event()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.loop = asyncio.get_running_loop()
        self.listening = self.loop.create_task(self.application._changes.listen())
        self.ready.set()

    def stop(self) -> None:
        """End the open replies, then the server."""
        self.loop.call_soon_threadsafe(self.application._closing.set)
        self.loop.call_soon_threadsafe(self.listening.cancel)
        self.should_exit = True


@contextmanager
def site_of_this_process() -> Iterator[str]:
    """Serve this process's routes under the name of the machine, as a browser asks for secrets of a page."""
    cache.clear()
    api = _Api()
    thread = threading.Thread(target=api.run)
    thread.start()
    assert api.ready.wait(PATIENCE_MS / 1000)
    (socket,) = api.servers[0].sockets
    named = f"http://localhost:{socket.getsockname()[1]}"
    try:
        with override_settings(CSRF_TRUSTED_ORIGINS=[named], PUBLIC_URL=named):
            yield named
    finally:
        api.stop()
        thread.join()
        api.application._threads.shutdown()


@contextmanager
def opened(cast: Cast, site: str) -> Iterator[App]:
    """Open a browser in which an owner of a tenant is signed in."""
    with launched(*OPTIONS) as browser:
        context = browser.new_context(reduced_motion="reduce", viewport=WIDE, locale="en-GB")
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(_named(request)) if "/v1/" in request.url else None)
        app = App(page, site, cast.slug, listened(page), asked)
        app.sign_in(in_a_thread(lambda: member_of(cast, "owner").person))
        yield app


def _named(request: Any) -> str:
    return f"{request.method} {urlsplit(request.url).path}"


def written_rendition(folder: Path) -> Path:
    """Write the rendition that plays in every video."""
    make_rendition(folder, ("-stream_loop", "1", "-i", str(OUT)))
    return folder


def play(page: Any, rendition: Path) -> None:
    """Let the browser's proxy answer what the player asks for."""

    def reply(route: Any) -> None:
        name = urlsplit(route.request.url).path.rpartition("/")[2]
        content, headers = (rendition / name).read_bytes(), {"Content-Type": KINDS[Path(name).suffix]}
        span = re.fullmatch(r"bytes=(\d+)-(\d+)", route.request.headers.get("range", ""))
        if span is None:
            route.fulfill(body=content, headers=headers)
            return
        start, end = int(span[1]), min(int(span[2]), len(content) - 1)
        headers["Content-Range"] = f"bytes {start}-{end}/{len(content)}"
        route.fulfill(status=206, body=content[start : end + 1], headers=headers)

    page.route(MEDIA, reply)
