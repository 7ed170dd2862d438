"""Each role on each page of the app in Chromium: what it shows, what it leaves out, and that no control is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import override_settings
from django.urls import resolve

from backend.api.public_ids import encode
from backend.people.roles import SCOPES_OF
from backend.tenancy.keys import ALL_SCOPES, ANYBODY
from tests.browser.chromium import in_a_thread, in_chromium
from tests.conftest import Cast
from tests.people.cast import member_of
from tests.web.app import PHONE, WIDE, App
from tests.web.crossing import crossing
from tests.web.test_in_a_browser import answered

pytestmark = in_chromium

ROLES = ("viewer", "analyst", "developer", "billing", "admin")
VIDEO, ENDPOINT = "/v1/videos/vid_1", "/v1/webhook-endpoints/whe_1"
QUESTION = "/v1/questions/qst_1"


@dataclass(frozen=True)
class Page:
    """A page: its address, what it reads, and its controls with what each of them asks the API for.

    free: controls that ask for no more than the page has read.
    """

    name: str
    path: str
    reads: str
    controls: dict[str, str] = field(default_factory=dict)
    free: str = ""


ASKS = {"Your question": "POST /v1/questions", "Ask": "POST /v1/questions", "ask-effort": "POST /v1/questions",
        "All of the time": "POST /v1/questions"}  # fmt: skip
JUDGES = {
    "Right": f"PUT {QUESTION}/feedback", "Wrong": f"PUT {QUESTION}/feedback", "More effort": "POST /v1/questions",
    "Another method": "POST /v1/questions", "Clip the evidence": "POST /v1/clips", "Share": "POST /v1/shares",
    "Report": f"GET {QUESTION}/report",
}  # fmt: skip
PAGES = (
    Page("library", "library", "GET /v1/videos", {
        "Paste a link": "POST /v1/videos", "Upload": "POST /v1/uploads", "Video files": "POST /v1/uploads",
        "New collection": "POST /v1/collections",
    }, "All videos|Yard|All|Ready|Indexing|Failed|Filter .*|Grid|Table|Choose .*"),
    Page("watch", "videos/{video}", f"GET {VIDEO}", {
        "Clip": "POST /v1/clips", "Share": "POST /v1/shares", "Download": f"GET {VIDEO}/playback",
        "Index again": f"POST {VIDEO}/reindex", **{name: of for name, of in ASKS.items() if name != "Ask"},
    }, "Ask|Events|Speech|Entities|Objects|Summary|What stops .*"),
    Page("entity", "videos/{video}/entities/{entity}", f"GET {VIDEO}/entities/ent_1", {}, r"0:.*"),
    Page("ask", "ask", "GET /v1/sessions", {"Begin a conversation about it": "POST /v1/sessions", **ASKS}, "scope"),
    Page("ask", "ask/{session}", "GET /v1/sessions/ses_1", {
        "Delete the conversation": "DELETE /v1/sessions/ses_1", **ASKS,
    }),
    Page("question", "questions/{question}", f"GET {QUESTION}", JUDGES, "Copy link"),
    Page("search", "search", "POST /v1/search", {},
         "What to look for|Search|search-.*|Best .*|By meaning|Exact words|Objects .*|All videos"),
    Page("usage", "usage", "GET /v1/usage", {}, "CSV|Meter|Video|Question|API key|Member|Model"),
    Page("invoices", "usage/invoices", "GET /v1/invoices"),
    Page("budgets", "usage/budgets", "GET /v1/budgets", {"New budget": "PUT /v1/budgets"}),
    Page("keys", "settings/keys", "POST /v1/api-keys", {
        "New key": "POST /v1/api-keys", "Rotate test": "POST /v1/api-keys/key_1/rotate",
        "Revoke test": "DELETE /v1/api-keys/key_1",
    }),
    Page("webhooks", "settings/webhooks", "GET /v1/webhook-endpoints", {
        "New receiver": "POST /v1/webhook-endpoints", "Send a test": f"POST {ENDPOINT}/test",
        "Change": f"PATCH {ENDPOINT}", "Rotate the secret": f"POST {ENDPOINT}/rotate-secret",
        "Turn off": f"PATCH {ENDPOINT}", "Delete": f"DELETE {ENDPOINT}",
    }),
    Page("deliveries", "settings/webhooks/{endpoint}", "GET /v1/webhook-deliveries", {},
         "All|Waiting|Delivered|Given up|Refresh"),
    Page("members", "settings/members", "GET /v1/members", {
        "Invite": "POST /v1/invitations", "Change {role}": "PATCH /v1/members/mem_1",
        "Remove {role}": "DELETE /v1/members/mem_1",
        "Revoke the invitation of ivy@example.org": "DELETE /v1/invitations/inv_1",
    }),
    Page("audit", "settings/audit", "GET /v1/audit-events", {"CSV": "GET /v1/audit-events"}),
    Page("profile", "settings/profile", "", {"Leave Acme": "DELETE /v1/me/membership"}, "As in the browser|language.*"),
)  # fmt: skip

CONTROLS = """() => [...document.querySelectorAll('main :is(button, input, select, textarea, a[download])')]
  .filter(each => each.checkVisibility() && !each.closest('ava-timeline, ava-player') && !each.dataset.evidence)
  .map(each => (each.ariaLabel || (each.matches('select') ? each.id : each.innerText) || each.labels?.[0]?.innerText
    || each.title || each.id).trim().split('\\n')[0])"""


def may(role: str, act: str) -> bool:
    """Whether the API does for a role what a control asks for."""
    if not act:
        return True
    method, path = act.split()
    wanted = resolve(path).func.view_class.scopes[method]  # type: ignore[attr-defined]
    return wanted in {*SCOPES_OF[role], ANYBODY} or ALL_SCOPES in SCOPES_OF[role]


def furnished(acme: Cast) -> dict[str, str]:
    """Write something for every page, and return the ids in addresses."""
    made = crossing(acme)
    video = encode("vid", made.video_id)
    ids = {"video": video, "question": answered(acme, made), "entity": encode("ent", made.entity)}
    sent: tuple[tuple[str, str, Any], ...] = (
        ("", "/v1/collections", {"name": "Yard"}),
        ("endpoint", "/v1/webhook-endpoints", {"url": "http://127.0.0.1:9/hook"}),
        ("session", "/v1/sessions", {"video_ids": [video]}),
        ("", "/v1/invitations", {"email": "ivy@example.org", "role": "viewer"}),
    )
    for name, path, body in sent:
        reply = acme.client.post(path, body, format="json")
        assert reply.status_code < 300, reply.content
        ids[name] = reply.json()["id"]
    return ids


@pytest.fixture
def ids(acme: Cast) -> Iterator[dict[str, str]]:
    with override_settings(WEBHOOK_ALLOW_PRIVATE=True):
        yield in_a_thread(lambda: furnished(acme))


def go(app: App, path: str) -> None:
    """Open a page of the app from another one, as a link does."""
    app.page.evaluate("to => history.pushState(null, '', to)", f"/app/{app.slug}/{path}")
    app.page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")


@pytest.mark.parametrize("role", ROLES)
def test_a_role_sees_its_pages_and_the_controls_that_the_api_allows(
    acme: Cast, app: App, play: None, ids: dict[str, str], role: str
) -> None:
    page = app.page
    app.sign_in(in_a_thread(lambda: member_of(acme, role).person))
    app.open("settings/profile")
    for each in (each for each in PAGES if not may(role, each.reads)):
        app.asked.clear()
        go(app, each.path.format(**ids))
        page.get_by_role("heading", name="Your role does not show this page").wait_for()
        assert app.asked == [], (each.name, "asks for what it may not see")
        go(app, "settings/profile")
        page.locator("page-profile").wait_for()
    for each in (each for each in PAGES if may(role, each.reads)):
        go(app, each.path.format(**ids))
        page.locator(f"page-{each.name}").wait_for()
        app.settle()
        expected = {name.format(role="") for name, act in each.controls.items() if may(role, act)}
        shown = {re.sub(r"^(Change|Remove) \S+@\S+", r"\1 ", name) for name in page.evaluate(CONTROLS)}
        assert {name for name in shown if not re.fullmatch(each.free, name)} == expected, (each.path, role)
        assert app.said == [], each.path


def test_a_page_that_a_role_does_not_show_says_so(acme: Cast, app: App) -> None:
    app.sign_in(in_a_thread(lambda: member_of(acme, "billing").person))
    app.open("library")
    app.page.get_by_text("You are Billing of Acme.").wait_for()
    app.check("role-without-page", looks=(("light", WIDE), ("dark", PHONE)))
    app.page.get_by_role("link", name="To the start").click()
    app.page.wait_for_url("**/usage")
