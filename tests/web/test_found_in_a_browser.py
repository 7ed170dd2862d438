"""Search, entities, conversations, webhooks and budgets of the app in Chromium, with something in them."""

from __future__ import annotations

from uuid import UUID

from django.test import override_settings

from backend.api.public_ids import encode
from backend.questions.models import Question
from backend.questions.queries.searches import FoundEvent, Reason
from tests.browser.chromium import in_a_thread, in_chromium
from tests.conftest import Cast
from tests.questions import test_searches
from tests.web.app import PHONE, WIDE, App
from tests.web.crossing import EVENTS, Crossing, crossing
from tests.web.test_in_a_browser import answered

pytestmark = in_chromium
TWO_LOOKS = (("light", WIDE), ("dark", PHONE))


def found(made: Crossing, n: int) -> FoundEvent:
    return FoundEvent(
        video_id=made.video_id, event_id=made.events[n], n=n, start_ms=n * 5_000, end_ms=n * 5_000 + 5_000,
        summary=EVENTS[n], score=0.9 - n / 100, frame_ms=n * 5_000 + 1_000,
        frame_key=f"t/{{}}/v/{made.video_id}/1/frames/{n * 5_000 + 1_000}.jpg",
        reasons=(Reason("event", 0.7, ""), Reason("words", 0.5, "van")),
    )  # fmt: skip


def test_moments_are_found_and_played(acme: Cast, app: App, play: None) -> None:
    made = in_a_thread(lambda: crossing(acme))
    app.open("search")
    app.page.get_by_label("What to look for").fill("a post van")
    with app.page.expect_request("**/v1/search"):
        app.page.keyboard.press("Enter")

    def store() -> None:
        from time import sleep

        from backend.questions.models import Search

        for _ in range(200):
            with acme.scope():
                if Search.objects.filter(status="queued").exists():
                    break
            sleep(0.05)
        key = str(acme.tenant_id)
        results = [found(made, n) for n in (5, 6, 7)]
        for each in results:
            object.__setattr__(each, "frame_key", each.frame_key.format(key))
        test_searches.finish(acme, lambda _: results)

    in_a_thread(store)
    app.page.get_by_text("3 moments").wait_for()
    app.check("search-found", looks=TWO_LOOKS)
    app.page.keyboard.press("Escape")
    app.page.get_by_role("button", name="Play Crossing at the bakery, 0:30").click()
    app.page.wait_for_function("() => document.querySelector('video')?.currentTime >= 29")


def test_an_entity_shows_where_it_appears(acme: Cast, app: App, play: None) -> None:
    made = in_a_thread(lambda: crossing(acme))
    app.open(f"videos/{encode('vid', made.video_id)}/entities/{encode('ent', made.entity)}")
    app.page.get_by_role("heading", name="Post van").wait_for()
    app.page.get_by_text("drives past").first.wait_for()
    app.page.locator("[data-appearance]").first.click()
    app.page.wait_for_function("() => document.querySelector('video')?.currentTime >= 24")
    app.page.keyboard.press("k")
    app.check("entity", looks=TWO_LOOKS)


def test_a_conversation_goes_on(acme: Cast, app: App, play: None) -> None:
    made = in_a_thread(lambda: crossing(acme))
    page = app.page
    app.open("ask")
    app.check("ask-ready", looks=TWO_LOOKS)
    page.get_by_role("button", name="Begin a conversation about it").click()
    page.wait_for_url("**/ask/ses_**")
    page.get_by_label("Your question").fill("What stops?")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Stop").wait_for()
    assert page.get_by_label("Your question").is_disabled()

    def answer_it() -> None:
        with acme.scope():
            asked: UUID = Question.objects.get().id
        answered(acme, made, question=asked)

    in_a_thread(answer_it)
    page.get_by_text("A white post van.", exact=True).first.wait_for()
    app.settle()
    app.check("conversation", looks=TWO_LOOKS)
    assert page.get_by_label("Your question").is_enabled()


def test_webhooks_and_budgets_are_set(app: App) -> None:
    page = app.page
    with override_settings(WEBHOOK_ALLOW_PRIVATE=True):
        app.open("settings/webhooks")
        page.get_by_role("button", name="New receiver").first.click()
        page.get_by_label("Address").fill("http://127.0.0.1:9/hook")
        page.keyboard.press("Enter")
        page.locator("[data-secret]").wait_for()
        page.get_by_role("button", name="Close").click()
        page.get_by_role("button", name="Send a test").click()
        page.get_by_text("A test was sent.").wait_for()
        page.get_by_role("link", name="Deliveries").click()
        page.get_by_role("button", name="Attempts").wait_for()
        app.check("deliveries", looks=TWO_LOOKS)
    app.open("usage/budgets")
    page.get_by_role("button", name="New budget").first.click()
    page.get_by_label("Questions in a month").fill("500")
    page.keyboard.press("Enter")
    page.get_by_text("0 of 500").wait_for()
    app.check("budget", looks=TWO_LOOKS)
