"""The app in its languages: German fits on a phone, and the pseudo-locale shows that no text is left in English."""

from __future__ import annotations

import re

from tests.browser.chromium import in_chromium, overhang, pictured
from tests.web.app import PHONE, WIDE, App

pytestmark = in_chromium

TEXTS = """() => {
  const left = [];
  const inner = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (inner.nextNode()) {
    const {data, parentElement: around} = inner.currentNode;
    if (!around.closest('code, kbd, pre, script, style, template, noscript, .initial, [lang]')) left.push(data);
  }
  const names = ['placeholder', 'title', 'aria-label', 'aria-valuetext', 'data-name', 'alt'];
  for (const each of document.body.querySelectorAll('*'))
    for (const name of names) if (each.hasAttribute(name)) left.push(each.getAttribute(name));
  return [document.title, ...left].map(text => text.trim()).filter(Boolean);
}"""
"""All texts of a page and its attributes, without code, keys and what says its own language."""
NO_WORDS = re.compile(r"\b(AVA Cloud|kB|MB|GB|TB|B|CSV|PDF|API)\b")
"""Names and units, which are the same in every language."""


def english(app: App, *data: str) -> list[str]:
    """Return the texts of a page in the pseudo-locale that have plain letters. data: what is the customer's own."""
    left = []
    for text in app.page.evaluate(TEXTS):
        rest = NO_WORDS.sub("", text)
        for known in sorted(data, key=len, reverse=True):
            rest = rest.replace(known, "")
        if re.search("[A-Za-z]", rest):
            left.append(text)
    return left


def test_a_person_chooses_the_language(app: App) -> None:
    page = app.page
    app.open("settings/profile")
    assert page.locator("html").get_attribute("lang") == "en-GB"
    page.get_by_label("Language").select_option("Deutsch")
    page.get_by_role("heading", name="Profil", exact=True).wait_for()
    assert page.locator("html").get_attribute("lang") == "de"
    app.open("settings/profile")
    for size in (WIDE, PHONE):
        page.set_viewport_size(size)
        pictured(page, f"app-german-profile-{size['width']}")
        assert overhang(page) <= 0
    page.get_by_label("Sprache").select_option("")
    page.get_by_role("heading", name="Profile").wait_for()


def test_no_page_has_a_text_that_is_not_translated(app: App) -> None:
    for path in ("settings/profile", "nowhere"):
        app.open(f"{path}?lang=en-XA")
        me = app.page.evaluate("() => fetch('/v1/me').then(reply => reply.json())")
        (tenant,) = me["tenants"]
        assert english(app, me["email"], me["name"], tenant["name"], tenant["slug"]) == [], path
