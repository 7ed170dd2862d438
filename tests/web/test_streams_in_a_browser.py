"""What grows and what is answered, on pages of the app in Chromium: through streams, and where streams do not last."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from backend.api.public_ids import encode
from backend.library.models import Video, VideoStatus
from backend.questions.services import questions
from gpu_workers.engine.answering.contract import PartialAnswer
from tests.api.servers import ServerProcess
from tests.browser.chromium import in_a_thread, in_chromium
from tests.conftest import Cast
from tests.questions.world import answer, ask
from tests.web.app import PHONE, App, opened

pytestmark = in_chromium


class Asked:
    """A question that a worker has begun to answer."""

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self.id, self.video_id = ask(cast)
        with cast.scope():
            self._begun = questions.begin(question_id=self.id)

    def find(self, text: str) -> None:
        """Store the best answer so far."""
        partial = PartialAnswer(text=text, choice=None, score=0.5, path="", level=1)
        with self._cast.scope():
            questions.set_partial(question_id=self.id, partial=partial)

    def answer(self) -> None:
        assert self._begun is not None
        with self._cast.scope():
            questions.store_answer(question=self._begun, answer=answer(self.video_id), model_names={"reasoner": "qwen"})

    @property
    def page(self) -> str:
        return f"questions/{encode('qst', self.id)}"


def begin(cast: Cast, text: str) -> Asked:
    def made() -> Asked:
        asked = Asked(cast)
        asked.find(text)
        return asked

    found: Asked = in_a_thread(made)
    return found


def become_ready(cast: Cast, video_id: UUID) -> None:
    def write() -> None:
        with cast.scope():
            Video.objects.filter(id=video_id).update(status=VideoStatus.READY)

    in_a_thread(write)


@pytest.fixture
def api(database: None, tmp_path: Path) -> Iterator[ServerProcess]:
    server = ServerProcess(tmp_path)
    server.wait(server.is_ready)
    yield server
    server.stop()


def kill(server: ServerProcess) -> None:
    """Kill the API's processes, as a machine does that fails."""
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    for pid in (server.process.pid, *map(int, children)):
        os.kill(pid, signal.SIGKILL)
    server.process.wait()


def test_an_api_that_is_killed_in_mid_question_loses_nothing_on_the_page(
    acme: Cast, tmp_path: Path, api: ServerProcess
) -> None:
    asked = begin(acme, "Perhaps a blue car")
    with opened(acme, f"http://localhost:{api.port}") as app:
        page = app.page
        app.open(asked.page)
        page.get_by_text("Perhaps a blue car").wait_for()
        library = page.context.new_page()
        library.goto(f"{app.site}/app/{app.slug}/library")
        library.locator(".badge", has_text="Indexing").wait_for()

        kill(api)
        in_a_thread(asked.answer)
        become_ready(acme, asked.video_id)
        again = ServerProcess(tmp_path)
        try:
            assert again.port == api.port
            page.get_by_text("a red car", exact=True).first.wait_for()
            library.locator(".badge", has_text="Ready").wait_for()
        finally:
            again.stop()


def test_a_reload_in_mid_search_shows_the_answer_so_far_without_a_stream(acme: Cast, app: App) -> None:
    asked = begin(acme, "Perhaps a blue car")
    app.page.set_viewport_size(PHONE)
    app.open(asked.page)
    app.page.get_by_text("Perhaps a blue car").wait_for()
    # No event comes.
    app.page.route("**/stream?*", lambda route: None)

    with app.page.expect_request(f"**/{asked.page}/stream?*"):
        app.page.reload()

    app.page.get_by_text("Perhaps a blue car").wait_for()


def test_a_screen_reader_hears_that_the_answer_is_there_once_and_nothing_before(acme: Cast, app: App) -> None:
    asked = begin(acme, "Perhaps a blue car")
    app.open(asked.page)
    app.page.get_by_text("Perhaps a blue car").wait_for()
    app.page.evaluate("""() => {
      window.heard = [];
      new MutationObserver(list => list.forEach(({target}) => {
        const place = target.nodeType === 1 ? target : target.parentElement;
        const region = place?.closest("[role=status], [role=alert], [aria-live]");
        if (region?.textContent.trim()) window.heard.push(region.textContent.trim());
      })).observe(document.body, {childList: true, characterData: true, subtree: true});
    }""")
    in_a_thread(lambda: asked.find("Perhaps a green car"))
    app.page.get_by_text("Perhaps a green car").wait_for()

    in_a_thread(asked.answer)

    app.page.get_by_text("a red car", exact=True).first.wait_for()
    app.settle()
    assert app.page.evaluate("() => window.heard") == ["Answer ready"]


def test_pages_look_every_few_seconds_while_no_stream_lasts_and_then_stream_again(acme: Cast, app: App) -> None:
    _, video_id = in_a_thread(lambda: ask(acme))
    app.page.route("**/v1/stream?*", lambda route: route.abort())
    app.open("library")
    app.page.locator(".badge", has_text="Indexing").wait_for()

    become_ready(acme, video_id)

    app.page.locator(".badge", has_text="Ready").wait_for()
    with app.page.expect_response(lambda reply: "/v1/stream" in reply.url and reply.ok):
        app.page.unroute("**/v1/stream?*")
    assert app.said
    app.said.clear()
