"""The fixture of these tests in Chromium: it hears every complaint, and a page fetches just the modules it names."""

from __future__ import annotations

from backend.api.public_ids import encode
from backend.people.web_modules import preloads
from tests.browser.chromium import in_a_thread, in_chromium
from tests.conftest import Cast
from tests.web.app import App
from tests.web.crossing import crossing

pytestmark = in_chromium

COMPLAINTS = {
    "console error": ("console.error('oops')", "console", "oops"),
    "page error": ("setTimeout(() => { throw new Error('gone'); })", "pageerror", "gone"),
    "policy": ("document.body.setAttribute('style', 'color: red')", "console", "Content Security Policy"),
    "failure of our own": ("void fetch('/v1/videos/vid_1')", "response", "403"),
}
"""An act of a page, the event that reports it, and what is heard."""


def test_each_complaint_of_the_browser_is_heard(app: App) -> None:
    app.open("settings/profile")
    assert app.said == []
    for name, (act, event, words) in COMPLAINTS.items():
        with app.page.expect_event(event):
            app.page.evaluate(f"() => {{ {act} }}")
        assert words in " ".join(app.said), name
        app.said.clear()


def test_a_page_fetches_the_modules_that_it_names(acme: Cast, app: App, play: None) -> None:
    made = in_a_thread(lambda: crossing(acme))
    fetched = """() => performance.getEntriesByType('resource').map(each => new URL(each.name).pathname)
      .filter(each => each.startsWith('/static/web/') && each.endsWith('.js'))"""
    for path in ("library", f"videos/{encode('vid', made.video_id)}", "ask", "usage", "settings/keys"):
        app.open(path)
        assert set(app.page.evaluate(fetched)) == set(preloads(f"{app.slug}/{path}")), path
