"""The pages of the console in Chromium: what they show, by keyboard, for each role, with axe and an empty console.

`make test-browser` runs these; without a Chromium they are skipped (`apt-get install chromium`). With AVA_SCREENSHOTS
set to a folder each page is pictured there at the widths of a phone, a laptop and a wide screen.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.cache import cache
from django.utils import timezone

from backend.jobs import breakers
from backend.jobs.models import Job, JobState
from backend.questions.models import Question
from backend.questions.services import questions
from backend.webhooks.models import Attempt, Delivery, Endpoint
from backend.webhooks.services import create_endpoint, send_test
from tests.browser.chromium import in_a_thread, in_chromium, launched, listened, serious_faults, served
from tests.conftest import Cast
from tests.console.indexed import indexed_video
from tests.console.signing_in import appointed, open_content
from tests.questions.world import ask, finish

pytestmark = in_chromium

WIDTHS = {"phone": (390, 844), "laptop": (1366, 768), "wide": (1920, 1080)}
REASON = "Ticket 4711, asked by the customer"


@pytest.fixture
def site(database: None) -> Iterator[str]:
    cache.clear()
    with served() as address:
        yield address


@pytest.fixture
def chromium() -> Iterator[Any]:
    with launched() as browser:
        yield browser


def page_of(chromium: Any, site: str, role: str, *open_to: Cast, width: str = "laptop") -> Any:
    """A tab in which a person with this role is signed in. open_to: tenants whose content the person has opened."""

    def session() -> str:
        client = appointed(role)
        for cast in open_to:
            assert open_content(client, cast).status_code == 302
        return client.cookies["ava_console"].value

    w, h = WIDTHS[width]
    context = chromium.new_context(viewport={"width": w, "height": h}, reduced_motion="reduce")
    context.add_cookies([{"name": "ava_console", "value": in_a_thread(session), "url": site}])
    return context.new_page()


@pytest.fixture
def story(acme: Cast) -> dict[str, Any]:
    """Make an answered question, a dead job, an outage, a disabled endpoint with a dead delivery."""
    made: dict[str, Any] = in_a_thread(lambda: _story(acme))
    return made


def _story(acme: Cast) -> dict[str, Any]:
    question_id, video_id = ask(acme, choices=["blue car", "red car"])
    finish(acme, question_id, video_id)
    dead, _ = ask(acme)
    breakers.opened("describer", code="model_unavailable", message="no answer")
    with acme.scope():
        Job.objects.filter(subject_id=dead).update(
            state=JobState.DEAD, error_code="model_unavailable", completed_at=timezone.now()
        )
        questions.fail_question(question_id=dead, code="model_unavailable", message="No model.")
        job = Job.objects.get(subject_id=dead)
        endpoint, _ = create_endpoint(url="https://example.com/hook")
        delivery = send_test(endpoint=endpoint)
        Delivery.objects.filter(id=delivery.id).update(state="dead", attempts=1)
        Attempt.objects.create(
            tenant_id=acme.tenant_id, delivery=delivery, n=1, status_code=503, response_excerpt="out of order"
        )
        Endpoint.objects.update(dead_deliveries=5, breaker="open", failures=7, opened_at=timezone.now())
    return {"question": question_id, "dead": dead, "video": indexed_video(acme), "job": job.id, "endpoint": endpoint.id,
            "delivery": delivery.id}  # fmt: skip


def pictured(page: Any, name: str) -> None:
    """Picture the open page at each width, if a folder for pictures is named."""
    folder = os.environ.get("AVA_SCREENSHOTS")
    if not folder:
        return
    before = page.viewport_size
    for width, (w, h) in WIDTHS.items():
        page.set_viewport_size({"width": w, "height": h})
        page.screenshot(path=str(Path(folder) / f"{name}-{width}.png"), full_page=True)
    page.set_viewport_size(before)


def checked(page: Any, name: str) -> None:
    """Check that the open page is whole: no fault of accessibility, and nothing wider than the window."""
    pictured(page, name)
    assert serious_faults(page) == [], name
    for width in ("phone", "laptop"):
        page.set_viewport_size(dict(zip(("width", "height"), WIDTHS[width], strict=True)))
        overhang = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert overhang <= 0, f"{name} is {overhang} pixels wider than a {width}"


def test_every_page_of_the_navigation_is_whole(acme: Cast, site: str, chromium: Any, story: dict[str, Any]) -> None:
    page = page_of(chromium, site, "operator", acme)
    said = listened(page)
    page.goto(f"{site}/console/")
    links = sorted(set(page.eval_on_selector_all("a[href^='/console/']", "all => all.map(a => a.pathname)")))
    lists = [link for link in links if re.fullmatch(r"/console/([a-z]+/[a-z]+/|operations/|)", link)]
    assert len(lists) > 10
    faults = []
    for link in lists:
        reply = page.goto(site + link)
        assert reply.status == 200, link
        assert page.get_by_role("heading").count() or page.title(), link
        name = link.strip("/").replace("/", "-") or "overview"
        try:
            checked(page, name)
        except AssertionError as fault:
            faults.append(str(fault)[:600])
        page.set_viewport_size(dict(zip(("width", "height"), WIDTHS["laptop"], strict=True)))
    assert faults == []
    assert said == []


@pytest.mark.parametrize(
    ("path", "row", "words"),
    [
        ("library/video", "video", ["Recording over time", "Entities", "Segments"]),
        ("questions/question", "question", ["red car", "Search tree", "Model calls", "Evidence"]),
        ("jobs/job", "job", ["Act"]),
        ("jobs/breaker", "describer", ["Act"]),
        ("webhooks/endpoint", "endpoint", ["Act"]),
        ("webhooks/delivery", "delivery", ["Attempts", "out of order"]),
    ],
)
def test_the_page_of_a_row_is_whole(
    acme: Cast, site: str, chromium: Any, story: dict[str, Any], path: str, row: str, words: list[str]
) -> None:
    page = page_of(chromium, site, "operator", acme)
    said = listened(page)
    page.goto(f"{site}/console/{path}/{story.get(row, row)}/change/")
    for word in words:
        assert page.get_by_text(word).first.is_visible(), word
    page.get_by_text("Act", exact=True).first.click()
    checked(page, path.replace("/", "-") + "-row")
    # A recording of the tests is no film, so the player itself may say that it cannot play it.
    assert said == []


def test_a_job_is_replayed_by_keyboard_and_a_short_reason_is_refused(
    acme: Cast, site: str, chromium: Any, story: dict[str, Any]
) -> None:
    page = page_of(chromium, site, "operator")
    page.goto(f"{site}/console/operations/")
    reason = page.get_by_label("Reason for model_unavailable in gpu.query")
    reason.focus()
    page.keyboard.type("short")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.validity.tooShort") is True
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(REASON)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text("Replay: 1 jobs.").wait_for()
    assert page.get_by_text("No job fails.").is_visible()

    def status() -> str:
        with acme.scope():
            return str(Question.objects.get(id=story["dead"]).status)

    assert in_a_thread(status) == "queued"


def test_a_question_is_asked_again_by_keyboard(acme: Cast, site: str, chromium: Any, story: dict[str, Any]) -> None:
    page = page_of(chromium, site, "operator", acme)
    page.goto(f"{site}/console/questions/question/{story['question']}/change/")
    page.get_by_text("Act", exact=True).first.focus()
    page.keyboard.press("Enter")
    form = page.get_by_role("form", name="Ask again")
    form.get_by_label("Method").select_option("vector")
    form.get_by_label("Reason").focus()
    page.keyboard.type(REASON)
    page.keyboard.press("Enter")
    page.get_by_text("Ask again: done.").wait_for()
    assert page.get_by_role("heading", name="Asked more than once").is_visible()
    assert f"{story['question']}" not in page.url


def test_a_mark_of_the_timeline_moves_the_player(acme: Cast, site: str, chromium: Any, story: dict[str, Any]) -> None:
    page = page_of(chromium, site, "operator", acme)
    page.goto(f"{site}/console/library/video/{story['video']}/change/")
    if not page.locator("#player").count():
        pytest.skip("the recording of this video is not stored")
    page.get_by_text("events as a list").click()
    page.locator(".c-marks button").first.click()
    assert page.locator("#player").evaluate("player => player.currentTime") >= 0


@pytest.mark.parametrize(("role", "sees"), [("support", True), ("support_content", True), ("finance", False)])
def test_other_roles_see_no_act(
    acme: Cast, site: str, chromium: Any, story: dict[str, Any], role: str, sees: bool
) -> None:
    page = page_of(chromium, site, role)
    reply = page.goto(f"{site}/console/operations/")
    assert reply.status == (200 if sees else 403)
    assert page.get_by_role("button", name=re.compile("Replay|Cancel|Hold")).count() == 0
    reply = page.goto(f"{site}/console/jobs/job/{story['job']}/change/")
    assert reply.status == (200 if sees else 403)
    assert page.get_by_text("Act", exact=True).count() == 0


def test_empty_pages_say_so(site: str, chromium: Any, database: None) -> None:
    page = page_of(chromium, site, "operator")
    page.goto(f"{site}/console/operations/")
    for words in ("No job fails.", "No worker reports.", "No endpoint fails.", "Nobody acted."):
        assert page.get_by_text(words).is_visible(), words
    checked(page, "operations-empty")
    unknown = UUID(int=7)
    assert page.goto(f"{site}/console/library/video/{unknown}/change/").status == 404
