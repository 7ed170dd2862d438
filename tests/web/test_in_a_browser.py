"""The pages of the app in Chromium, over the real service: both themes, phone and desk, keyboard, and no complaint.

`make test-browser` runs these; without a Chromium they are skipped (`apt-get install chromium`).
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from backend.api.public_ids import encode
from backend.library.models import Video, VideoStatus
from backend.questions.models import Question
from backend.questions.services import questions
from gpu_workers.engine.answering.contract import CitationRecord
from infra.sample_video import OUT
from tests.browser.chromium import in_a_thread, in_chromium, out_of_reach, shows
from tests.conftest import Cast
from tests.people.cast import member_of, person
from tests.questions.world import answer
from tests.tasks.world import WITHOUT_MODELS, run_due
from tests.web.app import PHONE, WIDE, App
from tests.web.crossing import Crossing, crossing

pytestmark = in_chromium

LIBRARY_REQUESTS, WATCH_REQUESTS = 6, 8
"""Different requests of a page view. What has changed just before is asked for twice."""


def answered(
    acme: Cast, made: Crossing, text: str = "A white post van.", question: UUID | None = None, **values: Any
) -> str:
    """Let a question about the crossing be answered, and return its public id. question: one that is asked already."""
    cited = tuple(
        CitationRecord(
            made.video_id, made.events[n], n * 5_000, n * 5_000 + 5_000, n * 5_000 + 1_000, None, quote, "supported"
        )
        for n, quote in ((5, "A white post van drives past."), (6, "The van waits at the traffic light."))
    )  # fmt: skip
    with acme.scope():
        if question is None:
            question = questions.create_question(
                text="What stops at the traffic light?", video_ids=[made.video_id], api_key_id=acme.key_id
            ).id
    with acme.scope():
        begun = questions.begin(question_id=question)
        assert begun is not None
    fields = {"text": text, "choice": None, "citations": cited, **values}
    with acme.scope():
        questions.store_answer(question=begun, answer=answer(made.video_id, **fields), model_names={"reasoner": "qwen"})
    return encode("qst", question)


def test_a_person_without_a_tenant_is_told_what_to_do(app: App, site: str) -> None:
    app.sign_in(in_a_thread(lambda: person("eve")))
    app.page.goto(f"{site}/app/")
    app.page.get_by_role("heading", name="You are not a member of any tenant yet").wait_for()
    app.check("nowhere")
    assert app.page.get_by_role("link", name="See what waits for you").is_visible()


def test_an_address_of_another_tenant_says_no_more_than_one_that_does_not_exist(globex: Cast, app: App) -> None:
    for slug in (globex.slug, "never-made"):
        app.page.goto(f"{app.site}/app/{slug}/library")
        app.page.get_by_role("heading", name="You are not a member of this tenant").wait_for()
        assert globex.slug not in app.page.locator("main").inner_text()
    assert not any("/v1/videos" in each for each in app.asked)


def test_an_expired_session_leads_to_the_sign_in_and_back(app: App) -> None:
    app.open("library")
    app.page.context.clear_cookies()
    app.page.get_by_role("link", name="Usage").first.click()
    app.page.wait_for_url("**/accounts/login/?next=**")
    assert f"next=/app/{app.slug}/usage" in app.page.url.replace("%2F", "/")
    assert {each.partition(" ")[0] for each in app.said} <= {"401", "Failed"}
    app.said.clear()


def test_the_library_shows_videos_and_takes_few_requests(acme: Cast, app: App) -> None:
    def fill() -> None:
        crossing(acme)
        crossing(acme, title="Second crossing, still indexed", until_ms=30_000)
        with acme.scope():
            Video.objects.create(
                tenant_id=acme.tenant_id, object_key="t/x", size_bytes=5, title="A broken file",
                status=VideoStatus.FAILED,
                error_code="unreadable", error_message="This file cannot be read as a video.",
            )  # fmt: skip

    app.open("library")
    assert shows(app.page, "Drop a video here")
    app.check("library-empty")
    in_a_thread(fill)
    app.asked.clear()
    app.open("library")
    assert len(set(app.asked)) <= LIBRARY_REQUESTS, app.asked
    assert app.page.locator("a.open").count() == 3
    assert shows(app.page, "Indexing 50 %")
    assert shows(app.page, "This file cannot be read as a video.")
    app.check("library")
    app.page.get_by_role("button", name="Table").click()
    app.check("library-table")
    app.page.get_by_label("Filter the shown videos by title").fill("second")
    assert app.page.locator("a.open").count() == 1
    assert out_of_reach(app.page, "main :is(a, button, input:not([type=file]), select)") == []


def test_from_an_upload_to_a_shared_answer_by_keyboard_alone(acme: Cast, app: App, play: None) -> None:
    page = app.page
    page.set_viewport_size(PHONE)
    app.open("library")
    said: list[str] = []
    page.expose_function("heard", lambda words: said.append(words))
    page.evaluate("""() => new MutationObserver(list => list.forEach(each => window.heard(each.target.textContent)))
      .observe(document.querySelector('ava-tray [role=status]'),
        {childList: true, characterData: true, subtree: true})""")
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("u")
    chooser.value.set_files({"name": "crossing.mp4", "mimeType": "video/mp4", "buffer": OUT.read_bytes()})
    page.get_by_text("Queued for indexing").wait_for()
    assert 2 <= len(said) <= 5, said

    def index() -> Crossing:
        run_due(classes=WITHOUT_MODELS)
        with acme.scope():
            video: Video = Video.objects.get()
            assert video.size_bytes == OUT.stat().st_size
        return crossing(acme, video_id=video.id)

    made = in_a_thread(index)
    page.locator(".badge", has_text="Ready").first.wait_for()
    app.check("uploaded", looks=(("light", PHONE),))
    page.set_viewport_size(WIDE)
    page.locator("a.open").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Your question").wait_for()
    assert page.locator("section.tray").count() == 0, "what has arrived lies over the composer"
    page.get_by_label("Your question").focus()
    page.keyboard.type("What stops at the traffic light?")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Stop").wait_for()

    def answer_it() -> None:
        with acme.scope():
            asked: Question = Question.objects.get()
        answered(acme, made, question=asked.id)

    in_a_thread(answer_it)
    page.get_by_text("A white post van.", exact=True).first.wait_for()
    assert page.locator("ava-answer [role=status]").inner_text() == "Answer ready"
    page.locator("[data-evidence='0']").focus()
    page.keyboard.press("Enter")
    page.wait_for_function(
        "() => { const at = document.querySelector('video').currentTime; return at >= 24 && at < 31; }"
    )
    page.get_by_role("button", name="Share", exact=True).last.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Make the link").focus()
    page.keyboard.press("Enter")
    link = page.locator("[data-link]").inner_text()
    page.goto(link)
    page.get_by_text("A white post van.").first.wait_for()


def test_the_watch_page_shows_what_happens_when(acme: Cast, app: App, play: None) -> None:
    made = in_a_thread(lambda: crossing(acme))
    question = in_a_thread(lambda: answered(acme, made))
    video = encode("vid", made.video_id)
    page = app.page
    app.asked.clear()
    app.open(f"videos/{video}")
    page.locator("media-controller").wait_for()
    media = ("m3u8", ".mp4", ".vtt", ".jpg")
    assert len({each for each in app.asked if not each.endswith(media)}) <= WATCH_REQUESTS, app.asked
    app.check("watch")

    page.get_by_role("tab", name="Events").click()
    page.keyboard.press("k")
    app.check("watch-events")
    page.get_by_label("Filter events by words").fill("van")
    assert page.locator("panel-events .moment-row").count() == 3
    for tab in ("Speech", "Entities", "Objects", "Summary"):
        page.get_by_role("tab", name=tab).click()
        app.settle()
        app.check(f"watch-{tab.lower()}", looks=(("light", WIDE), ("dark", PHONE)))
    page.goto(f"{app.site}/app/{app.slug}/videos/{video}?q={question}")
    page.get_by_text("A white post van.", exact=True).first.wait_for()
    app.check("watch-answer")


ENDS = {
    "answered": ({}, "A white post van."),
    "insufficient_evidence": (
        {"text": "", "finish_reason": "insufficient_evidence", "detail": "no_events"}, "Nothing that fits",
    ),
    "budget": ({"finish_reason": "budget", "detail": "max_tokens"}, "The limit of tokens was reached."),
    "refused": (
        {"text": "", "finish_reason": "refused", "detail": "model_refused", "citations": ()},
        "The model declined",
    ),
    "unsupported": ({"finish_reason": "insufficient_evidence", "detail": "unsupported"}, "Do not rely on it."),
}  # fmt: skip


def test_each_end_of_a_question_has_its_page(acme: Cast, app: App, play: None) -> None:
    made = in_a_thread(lambda: crossing(acme))
    for name, (values, words) in ENDS.items():
        question = in_a_thread(lambda values=values: answered(acme, made, **values))
        app.page.goto(f"{app.site}/app/{app.slug}/questions/{question}")
        app.page.get_by_text(words).first.wait_for()
        app.check(f"question-{name}", looks=(("light", WIDE), ("dark", PHONE)))
    app.page.get_by_text("How it was found").click()
    app.page.get_by_text("Read the nearest events").or_(app.page.get_by_text("SA")).first.wait_for()
    stopped = in_a_thread(lambda: open_question(acme, made))
    app.page.goto(f"{app.site}/app/{app.slug}/questions/{stopped}")
    app.page.get_by_role("button", name="Stop").click()
    app.page.get_by_text("You or somebody else stopped this question.").wait_for()


def open_question(acme: Cast, made: Crossing) -> str:
    with acme.scope():
        return encode(
            "qst", questions.create_question(text="Why?", video_ids=[made.video_id], api_key_id=acme.key_id).id
        )


def test_usage_and_settings(acme: Cast, app: App) -> None:
    page = app.page
    for path in ("usage", "usage/invoices", "usage/budgets", "settings/keys", "settings/webhooks", "settings/members",
                 "settings/audit", "settings/profile", "ask", "search", "nowhere"):  # fmt: skip
        app.open(path)
        app.check(path.replace("/", "-"))
    app.open("settings/keys")
    page.get_by_role("button", name="New key").first.click()
    page.get_by_label("Name, by what will use it").fill("Laptop")
    page.keyboard.press("Enter")
    key = page.locator("[data-secret]").inner_text()
    app.check("key-made", looks=(("light", WIDE), ("dark", PHONE)))
    page.get_by_role("button", name="Close").click()
    page.get_by_role("rowheader", name="Laptop").wait_for()
    assert key.startswith("vk_live_")
    assert key not in page.content()
    app.open("settings/members")
    page.get_by_role("button", name="Invite").click()
    page.get_by_label("E-mail address").fill("eve@example.org")
    page.keyboard.press("Enter")
    page.get_by_text("/accounts/invitations/").wait_for()
    page.get_by_role("button", name="Close").click()
    page.get_by_text("eve@example.org").first.wait_for()


@pytest.mark.parametrize(("role", "shown", "hidden"), [("viewer", "Library", "Usage"), ("billing", "Usage", "Library")])
def test_a_role_sees_what_it_may_do(acme: Cast, app: App, role: str, shown: str, hidden: str) -> None:
    app.sign_in(in_a_thread(lambda: member_of(acme, role).person))
    app.page.goto(f"{app.site}/app/")
    app.settle()
    side = app.page.locator("nav.side")
    assert side.get_by_role("link", name=shown).count() == 1
    assert side.get_by_role("link", name=hidden).count() == 0
    assert app.page.get_by_role("button", name="Upload").count() == 0
    app.page.keyboard.press("ControlOrMeta+k")
    app.page.get_by_role("option", name="Profile").click()
    app.page.get_by_role("heading", name="Profile").wait_for()
    app.page.keyboard.press("?")
    app.page.get_by_role("dialog", name="Keys").wait_for()
    app.page.keyboard.press("Escape")
