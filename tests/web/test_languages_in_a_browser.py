"""The app in its languages: German fits on a phone, and the pseudo-locale shows that no text is left in English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from backend.api.public_ids import encode
from backend.library.models import Video, VideoStatus
from tests.browser.chromium import in_a_thread, in_chromium, overhang, pictured
from tests.conftest import Cast
from tests.web.app import PHONE, WIDE, App
from tests.web.crossing import Crossing, crossing
from tests.web.test_in_a_browser import ENDS, answered

pytestmark = in_chromium

TEXTS = """() => {
  const left = [], aside = 'code, kbd, pre, script, style, template, noscript, .initial, [hidden], [lang]';
  const inner = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (inner.nextNode()) {
    const {data, parentElement: around} = inner.currentNode;
    if (!around.closest(aside)) left.push(data);
  }
  const names = ['placeholder', 'title', 'aria-label', 'aria-valuetext', 'data-name', 'alt'];
  for (const each of document.body.querySelectorAll('*')) {
    if (each.localName.startsWith('media-')) continue;
    for (const name of names) if (each.hasAttribute(name)) left.push(each.getAttribute(name));
  }
  return [document.title, ...left].map(text => text.trim()).filter(Boolean);
}"""
"""All texts of a page and its attributes, without code, keys, what says its own language, and
the buttons of media-chrome, which speak English."""
SAME_EVERYWHERE = re.compile(r"\b(AVA Cloud|CSV|PDF|https://|[kMGT]?B|GB h|min|ms|s)(?![A-Za-z])")
"""Names and units."""
DATA = {
    "aliases", "answer", "category", "code", "colour", "description", "detail", "email", "error", "hint", "id", "key",
    "meaning", "message", "model", "name", "notes", "object", "plan", "predicate", "question", "question_id", "quote",
    "resource_id", "searched", "slug", "summary", "text", "title", "tool", "type", "url", "video_id", "video_title",
}  # fmt: skip
"""Fields of replies whose words are the customer's own, or come in the words of the API."""


def words_of(reply: Any, field: str = "") -> Iterator[str]:
    """Return the texts of a reply that are shown as they are."""
    if isinstance(reply, dict):
        for name, value in reply.items():
            yield from words_of(value, name)
    elif isinstance(reply, list):
        for value in reply:
            yield from words_of(value, field)
    elif isinstance(reply, str) and field in DATA and len(reply) > 1:
        yield reply


class Pseudo:
    """The app in the pseudo-locale."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.data: set[str] = set()
        self.replies: list[Any] = []
        app.page.add_init_script("localStorage.setItem('ava.language', 'en-XA')")
        app.page.on("response", lambda reply: self.replies.append(reply))

    def english(self) -> list[str]:
        """Return the texts of the open page that are neither translated nor data."""
        replies, self.replies = self.replies, []
        for each in replies:
            if "/v1/" in each.url and each.headers.get("content-type", "").startswith("application/json"):
                self.data |= set(words_of(each.json()))
        known = sorted(self.data, key=len, reverse=True)
        left = []
        for text in self.app.page.evaluate(TEXTS):
            rest = text
            for word in known:
                rest = rest.replace(word, "")
            if re.search("[A-Za-z]", SAME_EVERYWHERE.sub("", rest)):
                left.append(text)
        return left

    def check(self, path: str) -> None:
        """Open a page and check it."""
        self.app.page.wait_for_load_state("networkidle")
        self.replies.clear()  # the browser forgets replies to the page before
        self.app.open(path)
        assert self.app.page.locator("html").get_attribute("lang") == "en-XA"
        assert self.english() == [], path


def some_videos(acme: Cast) -> Crossing:
    """Write a video that is indexed, one that is being indexed, and one that cannot be read."""
    made = crossing(acme)
    crossing(acme, title="Second crossing", until_ms=30_000)
    with acme.scope():
        Video.objects.create(
            tenant_id=acme.tenant_id, object_key="t/x", size_bytes=5, title="A broken file", status=VideoStatus.FAILED,
            error_code="unreadable", error_message="This file cannot be read as a video.",
        )  # fmt: skip
    return made


def test_a_person_chooses_the_language(app: App) -> None:
    page = app.page
    app.open("settings/profile")
    assert page.locator("html").get_attribute("lang") == "en-GB"
    page.get_by_label("Language").select_option("Deutsch")
    page.get_by_role("heading", name="Profil", exact=True).wait_for()
    assert page.locator("html").get_attribute("lang") == "de"
    app.open("settings/profile")
    page.get_by_label("Sprache").select_option("")
    page.get_by_role("heading", name="Profile").wait_for()


def test_german_fits_on_a_phone(acme: Cast, app: App, play: None) -> None:
    made = in_a_thread(lambda: some_videos(acme))
    question = in_a_thread(lambda: answered(acme, made))
    page, video = app.page, encode("vid", made.video_id)
    page.add_init_script("localStorage.setItem('ava.language', 'de')")
    for path, heading in (
        ("library", "Mediathek"), ("ask", "Fragen"), ("usage", "Verbrauch"), ("search", "Suchen"),
        ("usage/invoices", "Rechnungen"), ("usage/budgets", "Budgets"), ("settings/keys", "API-Schlüssel"),
        ("settings/webhooks", "Webhooks"), ("settings/members", "Mitglieder"), ("settings/audit", "Protokoll"),
        ("settings/profile", "Profil"), (f"videos/{video}", ""), (f"questions/{question}", ""),
    ):  # fmt: skip
        app.open(path)
        assert not heading or page.get_by_role("heading", name=heading, exact=True).count() >= 1, path
        for size in (WIDE, PHONE):
            page.set_viewport_size(size)
            pictured(page, f"german-{path.split('/')[0 if heading == '' else -1]}-{size['width']}")
            assert overhang(page) <= 0, (path, size)
    app.open("library")
    assert page.locator(".badge", has_text="Indexierung 50 %").count() == 1


def test_no_page_has_a_text_that_is_not_translated(acme: Cast, app: App) -> None:
    pseudo = Pseudo(app)
    pseudo.check("library")
    made = in_a_thread(lambda: some_videos(acme))
    for path in (
        "library", "ask", "search", "usage", "usage/invoices", "usage/budgets", "settings/keys", "settings/webhooks",
        "settings/members", "settings/audit", "settings/profile", "nowhere",
        f"videos/{encode('vid', made.video_id)}/entities/{encode('ent', made.entity)}",
    ):  # fmt: skip
        pseudo.check(path)
    page = app.page
    app.open("library")
    page.locator(".looks button").nth(1).click()
    page.locator("tbody input").first.check()
    assert pseudo.english() == []
    for path, button in (
        ("library", ".actions button"), ("usage/budgets", ".actions button"), ("settings/keys", ".actions button"),
        ("settings/webhooks", ".actions button"), ("settings/members", ".actions button"),
        ("settings/profile", "button.danger"), ("settings/profile", ".foot button"),
    ):  # fmt: skip
        app.open(path)
        page.locator(button).first.click()
        page.locator("dialog[open]").wait_for()
        assert pseudo.english() == [], path


def test_no_answer_has_a_text_that_is_not_translated(acme: Cast, app: App, play: None) -> None:
    made = in_a_thread(lambda: crossing(acme))
    pseudo, page = Pseudo(app), app.page
    for values, _ in ENDS.values():
        question = in_a_thread(lambda values=values: answered(acme, made, **values))
        pseudo.check(f"questions/{question}")
    for each in page.locator("details.card > summary").all():
        each.click()
    assert pseudo.english() == []
    page.locator(".acts button").nth(1).click()
    page.locator("dialog[open]").wait_for()
    assert pseudo.english() == []


def test_the_watch_page_has_no_text_that_is_not_translated(acme: Cast, app: App, play: None) -> None:
    made = in_a_thread(lambda: crossing(acme))
    question = in_a_thread(lambda: answered(acme, made))
    pseudo, page = Pseudo(app), app.page
    video = f"videos/{encode('vid', made.video_id)}"
    for tab in ("ask", "events", "speech", "entities", "objects", "summary"):
        pseudo.check(f"{video}?tab={tab}")
    pseudo.check(f"{video}?q={question}")
    for button in page.locator(".head .actions button").all():
        button.click()
        page.locator("dialog[open]").wait_for()
        assert pseudo.english() == []
        page.keyboard.press("Escape")
