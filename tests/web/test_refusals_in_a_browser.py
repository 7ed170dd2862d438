"""What the app shows when a question fails or is refused, in Chromium: which reason, and what a person can do."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from backend.api.public_ids import encode
from backend.questions.models import Question, QuestionStatus
from backend.questions.services import questions
from tests.browser.chromium import in_a_thread, in_chromium
from tests.conftest import Cast
from tests.people.cast import member_of
from tests.web.app import PHONE, WIDE, App
from tests.web.crossing import crossing
from tests.web.test_roles_in_a_browser import go

pytestmark = in_chromium
LOOKS = (("light", WIDE), ("dark", PHONE))

CODES = {
    "worker_lost": "Every attempt lost its worker.", "time_limit": "The work took too long in every attempt.",
    "deadline_exceeded": "The question was not answered in time.", "internal_error": "An unexpected error on our side.",
    "model_misconfigured": "Our model server is set up wrongly.", "model_timeout": "The model server did not answer.",
    "model_unavailable": "The model server cannot be reached.", "model_bad_request": "The model server refused it.",
    "model_refused": "The model declined to answer.", "context_exceeded": "The request was too long for the model.",
    "output_truncated": "The output of the model was cut off.", "invalid_output": "The output could not be read.",
    "not_configured": "A model that is needed is not configured.", "answer_failed": "It could not be answered.",
    "engine_error": "The question could not be answered.", "test_failure": "The question asked for a failure.",
}  # fmt: skip
"""Codes of failed questions, with a message of each as the service writes it."""


def failed_question(acme: Cast, video_id: UUID, code: str, message: str) -> str:
    with acme.scope():
        made = questions.create_question(text=f"Why {code}?", video_ids=[video_id], api_key_id=acme.key_id)
        Question.objects.filter(id=made.id).update(
            status=QuestionStatus.FAILED, error_code=code, error_message=message, finish_reason="error"
        )
    return encode("qst", made.id)


def test_every_code_of_a_failed_question_says_why_and_can_be_asked_again(acme: Cast, app: App, play: None) -> None:
    page = app.page
    made = in_a_thread(lambda: crossing(acme))
    app.open("settings/profile")
    for code, message in CODES.items():
        question = in_a_thread(lambda code=code, message=message: failed_question(acme, made.video_id, code, message))
        go(app, f"questions/{question}")
        page.get_by_role("heading", name=f"Why {code}?").wait_for()
        alert = page.get_by_role("alert").filter(has_text="This question could not be answered")
        assert message in alert.inner_text(), code
    app.check("question-failed", looks=LOOKS)
    before = page.url
    page.get_by_role("button", name="Try again").click()
    page.wait_for_url(lambda url: url != before)
    page.get_by_role("button", name="Stop").wait_for()


def refused(app: App, made: Any, text: str = "Who is it?") -> Any:
    """Ask on the watch page, and return the problem that is shown."""
    app.open(f"videos/{encode('vid', made.video_id)}")
    app.page.get_by_label("Your question").fill(text)
    app.page.keyboard.press("Enter")
    problem = app.page.locator("ava-composer .problem")
    problem.wait_for()
    assert app.page.get_by_label("Your question").input_value() == text, "what was typed is kept"
    assert {each.partition(" ")[0] for each in app.said} <= {"402", "409", "429", "Failed"}, app.said
    app.said.clear()
    return problem


@pytest.mark.parametrize(("role", "help_"), [("owner", "Raise the limit"), ("analyst", "An owner, an admin or")])
def test_a_budget_that_is_used_up_says_which_and_who_may_raise_it(
    acme: Cast, app: App, play: None, role: str, help_: str
) -> None:
    def prepared() -> Any:
        reply = acme.client.put("/v1/budgets", {"questions": 0}, format="json")
        assert reply.status_code == 200, reply.content
        return crossing(acme)

    made = in_a_thread(prepared)
    app.sign_in(in_a_thread(lambda: member_of(acme, role).person))
    problem = refused(app, made)
    words = problem.inner_text()
    assert "A limit is reached" in words
    assert "questions limit of 0 a month" in words
    assert help_ in words
    app.check(f"budget-exhausted-{role}", looks=LOOKS)
    if role == "owner":
        problem.get_by_role("link", name="Raise the limit").click()
        app.page.wait_for_url("**/usage/budgets")
        app.page.get_by_text("0 of 0").wait_for()


def test_too_many_requests_count_down_until_one_may_try_again(acme: Cast, app: App, play: None) -> None:
    made = in_a_thread(lambda: crossing(acme))
    body = '{"status": 429, "code": "rate_limited", "detail": "Too many requests.", "request_id": "req_1"}'
    headers = {"Retry-After": "2", "Content-Type": "application/problem+json"}
    app.page.route("**/v1/questions", lambda route: route.fulfill(status=429, body=body, headers=headers), times=1)
    problem = refused(app, made)
    again = problem.get_by_role("button", name="Try again")
    assert "Too many requests" in problem.inner_text()
    assert "req_1" in problem.inner_text()
    app.page.get_by_role("button", name="Try again in 1 s").wait_for()
    assert again.first.is_disabled()
    problem.get_by_role("button", name="Try again", exact=True).click()
    app.page.get_by_role("button", name="Stop").wait_for()


def test_a_busy_session_says_that_it_waits(acme: Cast, app: App, play: None) -> None:
    page = app.page

    def prepared() -> tuple[str, str]:
        made = crossing(acme)
        begun = acme.client.post("/v1/sessions", {"video_ids": [encode("vid", made.video_id)]}, format="json").json()
        return begun["id"], encode("vid", made.video_id)

    session, _ = in_a_thread(prepared)
    app.open(f"ask/{session}")
    body = {"session_id": session, "question": "Who?"}

    def ask() -> int:
        status: int = acme.client.post(
            "/v1/questions", body, format="json", headers={"prefer": "respond-async"}
        ).status_code
        return status

    assert in_a_thread(ask) == 202, "somebody else asks in the same session"
    page.get_by_label("Your question").fill("And who else?")
    page.keyboard.press("Enter")
    page.get_by_text("An earlier question of the session is still open.").wait_for()
    app.check("session-busy", looks=LOOKS)
    assert {each.partition(" ")[0] for each in app.said} == {"409", "Failed"}
    app.said.clear()
    page.reload()
    app.settle()
    assert page.get_by_label("Your question").is_disabled()
    assert "still open" in (page.get_by_label("Your question").get_attribute("placeholder") or "")
