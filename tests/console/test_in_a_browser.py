"""The pages of the console in Chromium: what they show, by keyboard, for each role, with axe and an empty console.

`make test-browser` runs these; without a Chromium they are skipped (`apt-get install chromium`). With AVA_SCREENSHOTS
set to a folder each page is pictured there at the widths of a phone, a laptop and a wide screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.cache import cache
from django.test import override_settings
from django.utils import timezone

from backend.billing.models import Coupon, Plan, UsageEvent
from backend.billing.services.credit.coupons import NewCoupon, create_coupon
from backend.billing.services.plans import NewPlanVersion, append_plan_version
from backend.console.acting import actions, tenant_acts
from backend.jobs import breakers
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import enqueue
from backend.people.models import Membership, Person
from backend.questions.models import Question
from backend.questions.services import questions
from backend.staff import services, sign_in
from backend.staff.models import Session
from backend.webhooks.models import Attempt, Delivery, Endpoint
from backend.webhooks.services import create_endpoint, send_test
from tests.browser.chromium import (
    PATIENCE_MS,
    in_a_thread,
    in_chromium,
    launched,
    listened,
    out_of_reach,
    overhang,
    pictured,
    serious_faults,
    served,
    shows,
    with_authenticator,
)
from tests.conftest import Cast
from tests.console.furnished import furnish, unpaid_invoice
from tests.console.indexed import indexed_video
from tests.console.signing_in import appointed, code, open_content
from tests.console.test_requests_page import forget_requests
from tests.questions.world import ask, finish

pytestmark = in_chromium

WIDTHS = {"phone": (390, 844), "laptop": (1280, 800), "wide": (1920, 1080)}
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
    context = chromium.new_context(viewport={"width": w, "height": h}, reduced_motion="reduce", color_scheme="light")
    context.set_default_timeout(PATIENCE_MS)
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


def sized(page: Any, width: str) -> None:
    page.set_viewport_size(dict(zip(("width", "height"), WIDTHS[width], strict=True)))


def coloured(page: Any, scheme: str) -> None:
    """Show the open page in the light or the dark theme."""
    page.evaluate("dark => document.documentElement.classList.toggle('dark', dark)", scheme == "dark")


def faults_of(page: Any, name: str) -> list[str]:
    """Return what is wrong with the open page at each width, in either theme: axe, and what is wider than the window.

    The page is left in the light theme at the width of a laptop.
    """
    faults = []
    for width, scheme in (("phone", "light"), ("wide", "dark"), ("laptop", "light")):
        coloured(page, scheme)
        sized(page, width)
        pictured(page, f"{name}-{width}")
        faults += [f"{name}, {scheme}, {width}: {fault}" for fault in serious_faults(page)]
        if overhang(page) > 0:
            faults.append(f"{name} is {overhang(page)} pixels wider than a {width}")
    return faults


ACTS = ".c-acts :is(button, input, select, textarea, summary), .c-form :is(button, input, select), a.c-button, .c-panel :is(button, input, select, textarea)"  # noqa: E501
"""Controls with which somebody acts."""
PAGES: dict[str, dict[str, tuple[str, str, list[str]]]] = {
    "overview": {
        "overview": ("", "Overview", ["Revenue", "Failures now", "Where the cost goes", "Questions by hour"]),
        "overview-quarter": ("?days=90", "Overview", ["Top tenants", "Acme Traffic", "Feedback"]),
        "found": ("find/?q=tenant", "Find", ["Tenant 1", "tenant-1"]),
        "not-found": ("find/?q=nobody", "Find", ["Nothing that you may open has this name."]),
        "operations": ("operations/", "Operations", ["model_unavailable", "gpu@worker-1", "vlm", "1,234"]),
        "requests": ("requests/", "Requests", ["GET /v1/videos", "req_of_acme", "Acme Traffic", "p95 ms"]),
        "tenants": ("tenancy/tenant/", "Tenants", ["Acme Traffic", "Create a tenant"]),
        "tenant": (
            "tenancy/tenant/{tenant}/change/", "Acme Traffic",
            ["Revenue this month", "stored bytes", "INV-", "outage of Sunday", "$250.00 a month", "5,000,000 tokens",
             "owner", "vk_live_", "whe_", "model_unavailable"],
        ),
        "create-tenant": ("tenancy/tenant/create/", "Create a tenant", ["Reason"]),
        "suspend": ("tenancy/tenant/{tenant}/act/suspend/", "Suspend", ["stop at once"]),
        "grant-credit": ("tenancy/tenant/{tenant}/act/credit/", "Grant credit", ["Amount"]),
    },
    "work": {
        "videos": ("library/video/?tenant={tenant}", "Videos", ["Gate 7, Monday morning", "unreadable_media"]),
        "video": (
            "library/video/{video}/change/", "Gate 7, Monday morning",
            ["vid_", "Recording over time", "Entities", "guard in a yellow vest", "Segments", "qwen2.5-vl-7b"],
        ),
        "failed-video": ("library/video/{failed_video}/change/", "Gate 9, night", ["ends after its header"]),
        "questions": ("questions/question/?tenant={tenant}", "Questions", ["How often does the gate open?"]),
        "question": (
            "questions/question/{question}/change/", "Question",
            ["qst_", "the white lorry", "Search tree", "check frames and answer", "Model calls", "failed_call",
             "Asked more than once"],
        ),
        "waiting-question": ("questions/question/{asked_again}/change/", "Question", ["queued", "No node is stored."]),
        "searches": ("questions/search/?tenant={tenant}", "Searches", ["white lorry at the gate"]),
        "search": ("questions/search/{search}/change/", "Search", ["sea_", "2 reasons", "Gate 7, Monday morning"]),
        "comparisons": ("questions/comparison/?tenant={tenant}", "Comparisons", ["Captions against search"]),
        "comparison": (
            "questions/comparison/{comparison}/change/", "Captions against search",
            ["cmp_", "Accuracy over cost", "Pairs", "side by side"],
        ),
        "traces": ("questions/comparison/{comparison}/traces/?item=0", "Traces", ["Right answer: B. red car"]),
        "jobs": ("jobs/job/", "Jobs", ["job_", "model_unavailable"]),
        "job": ("jobs/job/{job}/change/", "Job", ["Error code", "model_unavailable"]),
        "outages": ("jobs/breaker/", "Breakers", ["describer"]),
        "outage": ("jobs/breaker/{breaker}/change/", "Describer", ["no answer"]),
        "deliveries": ("webhooks/delivery/?tenant={tenant}", "Deliveries", ["https://hooks.acme.example/ava", "dead"]),
        "delivery": ("webhooks/delivery/{delivery}/change/", "Delivery", ["Attempts", "out of order", "412 ms"]),
        "endpoints": ("webhooks/endpoint/?tenant={tenant}", "Endpoints", ["https://hooks.acme.example/ava", "open"]),
        "endpoint": ("webhooks/endpoint/{endpoint}/change/", "Endpoint", ["https://hooks.acme.example/ava", "all"]),
    },
    "money": {
        "budgets": ("billing/tenantbudget/", "Tenant budgets", ["$250.00"]),
        "ledger": ("billing/usageevent/", "Usage events", ["Acme Traffic", "answer"]),
        "costs-by-day": ("billing/costday/", "Cost days", ["at most lost by killed attempts"]),
        "coupons": ("billing/coupon/", "Coupons", ["SPRING-25", "25 %", "Make a coupon"]),
        "make-coupon": ("billing/coupon/create/", "Make a coupon", ["Can be granted until"]),
        "sellers": ("billing/legalentity/", "Legal entities", ["INV-"]),
        "machine-hours": ("billing/machineday/", "Machine days", ["g6.xlarge", "$19.20"]),
        "enter-hours": ("billing/machineday/create/", "Enter machine hours", ["Or a CSV file"]),
        "model-rates": ("billing/modelrate/", "Model rates", ["qwen2.5-vl-7b"]),
        "checks": ("billing/invariantresult/", "Invariant results", []),
        "exports": ("billing/exportstate/", "Export states", []),
        "invoices": ("billing/invoice/", "Invoices", ["INV-"]),
        "invoice": ("billing/invoice/{invoice}/change/", "INV-", ["Acme Traffic GmbH", "media seconds"]),
        "credits": ("billing/creditgrant/", "Credit grants", ["$25.00", "outage of Sunday"]),
        "plans": ("billing/plan/", "Plans", ["standard"]),
        "plan": ("billing/plan/{plan}/change/", "Standard", ["Version 1", "price book"]),
        "append-plan": ("billing/plan/append/?plan=standard", "Append a version", ["Allowances"]),
        "prices": ("billing/price/", "Prices", ["standard"]),
        "append-price": ("billing/price/add/", "Prices", ["Preview: what last month would have cost"]),
        "price-books": ("billing/pricebook/", "Price books", ["standard"]),
        "audit-log": ("audit/auditevent/", "Audit events", ["operator@example.org", "tenant.content_opened"]),
        "staff-log": ("staff/staffevent/", "Staff events", []),
    },
}  # fmt: skip
"""Address, words of the heading, and words of the page, by the name of a page."""


@pytest.mark.parametrize("group", PAGES)
def test_each_page_is_whole(acme: Cast, site: str, chromium: Any, group: str) -> None:
    """Each page shows what it is for, within any window and in both themes, without a word in the browser's console,
    and every act is reached by keyboard."""
    ids = in_a_thread(lambda: furnish(acme))
    page = page_of(chromium, site, "operator", acme)
    said = listened(page)
    faults = []
    for name, (path, heading, words) in PAGES[group].items():
        reply = page.goto(f"{site}/console/{path.format(**ids)}")
        if reply.status != 200:
            faults.append(f"{name} answered {reply.status}")
            continue
        shown = page.get_by_role("heading", level=1).first.inner_text()
        if heading not in shown:
            faults.append(f"{name} is headed {shown!r}")
        faults += [f"{name} lacks {word!r}" for word in words if not shows(page, word)]
        page.evaluate("document.querySelectorAll('main details, #content details').forEach(one => { one.open = true })")
        faults += faults_of(page, name)
        faults += [f"{name}: no key reaches {control}" for control in out_of_reach(page, ACTS)]
        faults += [f"{name}: {words}" for words in said]
        said.clear()
    assert faults == []


def test_a_script_that_stands_in_a_page_does_not_run(site: str, chromium: Any, database: None) -> None:
    page = page_of(chromium, site, "operator")
    said = listened(page)
    page.goto(f"{site}/console/")
    assert said == [], "what the page itself holds is allowed"
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.text = "window.ran = 'a script'";
          document.body.append(script);
          const button = document.createElement("button");
          button.setAttribute("onclick", "window.ran = 'a handler'");
          document.body.append(button);
          button.click();
        }"""
    )
    assert page.evaluate("window.ran") is None
    assert len(said) == 2
    assert all("script-src" in words for words in said)


def test_the_theme_is_that_of_the_system(acme: Cast, site: str, chromium: Any) -> None:
    page = page_of(chromium, site, "operator")
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{site}/console/")
        assert page.evaluate("document.documentElement.classList.contains('dark')") is (scheme == "dark")


def test_the_navigation_leads_to_each_list(acme: Cast, site: str, chromium: Any) -> None:
    page = page_of(chromium, site, "operator")
    page.goto(f"{site}/console/")
    links = set(page.eval_on_selector_all("a[href^='/console/']", "all => all.map(a => a.pathname)"))
    lists = {f"/console/{path.split('?')[0]}" for group in PAGES.values() for path, _, _ in group.values()}
    walked = {path for path in lists if re.fullmatch(r"/console/([a-z]+/[a-z]+/|operations/|requests/|find/|)", path)}
    walked -= {"/console/billing/price/add/"}
    assert walked <= links
    assert {link for link in links if re.fullmatch(r"/console/[a-z]+/[a-z]+/", link)} <= walked


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


def test_a_mark_of_the_timeline_moves_the_player(acme: Cast, site: str, chromium: Any) -> None:
    ids = in_a_thread(lambda: furnish(acme))
    page = page_of(chromium, site, "operator", acme)
    said = listened(page)
    page.goto(f"{site}/console/library/video/{ids['video']}/change/")
    page.wait_for_function("document.querySelector('video').readyState >= 1")
    assert page.evaluate("Math.round(document.querySelector('video').duration)") == 240
    page.get_by_text("Speech as a list").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**speech=1**")
    page.wait_for_function("document.querySelector('video').readyState >= 1")
    page.get_by_role("button", name="0:00:56").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('video').currentTime === 56")
    page.wait_for_function("Math.round(parseFloat(document.getElementById('cursor').style.left)) === 23")
    page.goto(f"{site}/console/library/video/{ids['video']}/change/?at=56000&speech=at#speech")
    page.wait_for_function("document.querySelector('video').currentTime === 56")
    assert page.locator("li[aria-current]").inner_text() == "0:00:56 – 0:01:00 Papers, please."
    assert said == []


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


@pytest.mark.parametrize("role", ["support", "support_content", "finance", "operator"])
def test_each_role_sees_its_pages_and_is_refused_in_words(site: str, chromium: Any, database: None, role: str) -> None:
    from backend.console.admin import site as console

    page = page_of(chromium, site, role)
    page.goto(f"{site}/console/")
    links = set(page.eval_on_selector_all("a[href^='/console/']", "all => all.map(a => a.pathname)"))
    refused = 0
    for model, shown in console._registry.items():
        path = f"/console/{model._meta.app_label}/{model._meta.model_name}/"
        reply = page.goto(site + path)
        if role in shown.roles:
            assert (reply.status, path in links) == (200, True), path
            continue
        refused += 1
        assert (reply.status, path in links) == (403, False), path
        assert page.get_by_role("heading", name="Not for your role").is_visible()
        assert page.get_by_role("alert").inner_text().startswith(f"Your role is {role.replace('_', ' ')}")
    assert (refused == 0) == (role == "operator")
    if refused:
        assert faults_of(page, f"refused-{role}") == []


def test_a_passkey_is_added_and_signs_in_by_keyboard(site: str, chromium: Any, database: None) -> None:
    # A passkey belongs to a host name, and an address is none.
    site = site.replace("127.0.0.1", "localhost")
    with override_settings(CONSOLE_URL=site, CSRF_TRUSTED_ORIGINS=[site]):
        tab = page_of(chromium, site, "support")
        said = listened(tab)
        passkeys = with_authenticator(tab)
        tab.goto(f"{site}/console/")
        tab.get_by_role("link", name="Your second factors").focus()
        tab.keyboard.press("Enter")
        tab.get_by_text("Each of them signs you in").wait_for()
        assert serious_faults(tab) == []
        tab.get_by_label("Name of the passkey").focus()
        tab.keyboard.type("Desk")
        tab.keyboard.press("Enter")
        tab.get_by_text("Passkey Desk").wait_for()
        (made,) = passkeys()

        def forget() -> None:
            """Leave the session as it is after the password."""
            session = Session.objects.get()
            kept = session.get_decoded()
            del kept[sign_in.VERIFIED]
            Session.objects.save(session.session_key, kept, session.expire_date)

        in_a_thread(forget)
        tab.goto(f"{site}/console/second-factor/")
        assert serious_faults(tab) == []
        tab.get_by_role("button", name="Use a passkey").focus()
        tab.keyboard.press("Enter")
        tab.wait_for_url(f"{site}/console/")

        (used,) = passkeys()
        assert used["signCount"] > made["signCount"]
        assert said == []


def test_the_first_factor_is_set_up_with_the_operators_code(site: str, chromium: Any, database: None) -> None:
    def begun() -> tuple[str, str]:
        """A session after the password alone, and the code that the operator was given."""
        client = appointed("support")
        session = client.session
        del session[sign_in.VERIFIED]
        session.save()
        return client.cookies["ava_console"].value, services.new_enrolment_code(email="support@example.org") or ""

    cookie, operators_code = in_a_thread(begun)
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    context.add_cookies([{"name": "ava_console", "value": cookie, "url": site}])
    page = context.new_page()
    said = listened(page)
    page.goto(f"{site}/console/second-factor/")
    assert faults_of(page, "first-factor") == []
    secret = page.locator("code").first.inner_text()
    page.get_by_label("The operator's code").first.focus()
    page.keyboard.type(operators_code)
    page.keyboard.press("Tab")
    page.keyboard.type(code(secret))
    page.keyboard.press("Enter")
    page.get_by_text("They are not shown again").wait_for()
    assert faults_of(page, "recovery-codes") == []
    page.get_by_role("link", name="I have kept them: continue").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site}/console/")
    page.goto(f"{site}/console/second-factor/own/")
    assert faults_of(page, "own-factors") == []
    assert said == []


def test_content_opens_by_keyboard_for_a_reason(acme: Cast, site: str, chromium: Any, story: dict[str, Any]) -> None:
    page = page_of(chromium, site, "operator")
    said = listened(page)
    address = f"{site}/console/questions/question/{story['question']}/change/"
    page.goto(address)
    assert faults_of(page, "open-content") == []
    assert out_of_reach(page, ACTS) == []
    page.get_by_label("Reason").focus()
    page.keyboard.type(REASON)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(address)
    assert page.get_by_text("red car ✓").is_visible()
    assert said == []
    outside = page_of(chromium, site, "support")
    outside.goto(address)
    assert outside.get_by_text("Your role opens no content of customers.").is_visible()


def test_something_is_found_by_keyboard(acme: Cast, site: str, chromium: Any, story: dict[str, Any]) -> None:
    page = page_of(chromium, site, "operator", acme)
    said = listened(page)
    page.goto(f"{site}/console/find/")
    page.locator("#find:focus").wait_for()
    page.keyboard.type(str(story["job"]))
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/jobs/job/{story['job']}/change/")
    page.keyboard.press("Control+k")
    page.get_by_role("searchbox").or_(page.locator("#command-search-input, dialog input, [name=s]")).last.wait_for()
    page.keyboard.type(acme.slug)
    page.get_by_text("Acme").last.wait_for()
    assert said == []


def test_acts_on_rows_are_done_by_keyboard(acme: Cast, site: str, chromium: Any, story: dict[str, Any]) -> None:
    page = page_of(chromium, site, "operator", acme)
    said = listened(page)
    for path, words in (
        (f"webhooks/delivery/{story['delivery']}", "Replay"),
        (f"webhooks/endpoint/{story['endpoint']}", "Send test"),
        (f"webhooks/endpoint/{story['endpoint']}", "Disable"),
        (f"webhooks/endpoint/{story['endpoint']}", "Enable"),
        ("jobs/breaker/describer", "Close"),
        (f"jobs/job/{story['job']}", "Replay"),
        (f"jobs/job/{story['job']}", "Pause"),
    ):
        page.goto(f"{site}/console/{path}/change/")
        page.get_by_text("Act", exact=True).first.focus()
        page.keyboard.press("Enter")
        page.get_by_label("Reason, which the log shows").focus()
        page.keyboard.type(REASON)
        page.get_by_role("button", name=words, exact=True).focus()
        page.keyboard.press("Enter")
        page.get_by_text(f"{words}: done.").wait_for()
    assert said == []


def done_by_keyboard(page: Any, address: str, words: str, fields: Mapping[str, str]) -> None:
    """Open the page of a row and do an act on it with a reason. fields: of the act's own form, by their names."""
    page.goto(address)
    page.get_by_text("Act", exact=True).first.focus()
    page.keyboard.press("Enter")
    form = page.locator("form[action$='/act/']").filter(has=page.get_by_role("button", name=words, exact=True))
    for name, value in fields.items():
        field = form.locator(f"[name$='-{name}']")
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    form.get_by_label("Reason").focus()
    page.keyboard.type(REASON)
    form.get_by_role("button", name=words, exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_text(f"{words}: done.").first.wait_for()


SOON = f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%dT%H:%M}"
ROW_ACTS: dict[str, tuple[str, list[tuple[str, dict[str, str]]]]] = {
    "job": (
        "jobs/job/{job}",
        [("Replay", {}), ("Pause", {}), ("Resume", {}), ("Put first", {}), ("Put back in line", {}), ("Put last", {}),
         ("Set deadline", {"at": SOON}), ("Cancel", {})],
    ),
    "segment": ("jobs/job/{observing}", [("Skip", {})]),
    "video": (
        "library/video/{video}",
        [("Retry segment", {"n": "0"}), ("Pause indexing", {}), ("Resume indexing", {}), ("Put indexing first", {}),
         ("Put indexing back in line", {}), ("Put indexing last", {}), ("Set indexing deadline", {"at": SOON}),
         ("Cancel indexing", {}), ("Retry indexing", {}), ("Cancel indexing", {}), ("Index again", {})],
    ),
    "question": (
        "questions/question/{dead}",
        [("Retry", {}), ("Pause", {}), ("Resume", {}), ("Put first", {}), ("Put back in line", {}), ("Put last", {}),
         ("Set deadline", {"at": SOON}), ("Cancel", {}), ("Ask again", {"method": "vector", "effort": "low"})],
    ),
    "endpoint": (
        "webhooks/endpoint/{endpoint}",
        [("Send test", {}), ("Replay since", {"since": "2026-01-01T00:00"}), ("Disable", {}), ("Enable", {})],
    ),
    "delivery": ("webhooks/delivery/{delivery}", [("Replay", {})]),
    "breaker": ("jobs/breaker/describer", [("Hold", {"hours": "2"}), ("Close", {})]),
    "ledger": ("billing/usageevent/{usage}", [("Correct quantity", {"quantity": "7"})]),
    "booking": ("billing/usageevent/{usage}", [("Reverse", {})]),
}  # fmt: skip
"""Acts on a row one after the other, by the row: its page, and each act with the fields of its form."""


def test_every_act_on_a_row_is_done_in_a_browser() -> None:
    done = {name: {words for words, _ in acts} for name, (_, acts) in ROW_ACTS.items()}
    assert done["job"] | done["segment"] == {act.title for act in actions.JOB_ACTS.values()}
    assert done["video"] == {act.title for act in actions.VIDEO_ACTS.values()}
    assert done["question"] == {act.title for act in actions.QUESTION_ACTS.values()}
    assert done["endpoint"] == {act.title for act in actions.ENDPOINT_ACTS.values()}
    assert done["delivery"] == {act.title for act in actions.DELIVERY_ACTS.values()}
    assert done["breaker"] == {act.title for act in actions.BREAKER_ACTS.values()}
    assert done["ledger"] | done["booking"] == {act.title for act in actions.USAGE_ACTS.values()}


def _rows_of(cast: Cast, story: dict[str, Any]) -> dict[str, Any]:
    """Add a segment that waits to be observed; find what the answered question was charged by."""
    with cast.scope():
        observing = enqueue(
            kind=JobKind.OBSERVE_SEGMENT, subject_id=uuid4(), video_id=story["video"], dedupe_key=f"observe:{uuid4()}"
        )
        usage = UsageEvent.objects.get(question_id=story["question"], meter="questions")
    return {**story, "observing": observing.id, "usage": usage.id}


@pytest.mark.parametrize("name", ROW_ACTS)
def test_the_acts_on_a_row_are_done_one_after_the_other(
    acme: Cast, site: str, chromium: Any, story: dict[str, Any], name: str
) -> None:
    rows = in_a_thread(lambda: _rows_of(acme, story))
    path, acts = ROW_ACTS[name]
    address = f"{site}/console/{path.format(**rows)}/change/"
    stranger = page_of(chromium, site, "support_content", acme)
    stranger.goto(address)
    assert stranger.locator("form[action$='/act/']").count() == 0
    page = page_of(chromium, site, "operator", acme)
    said = listened(page)
    for words, fields in acts:
        done_by_keyboard(page, address, words, fields)
    assert faults_of(page, f"acts-on-{name}") == []
    # The recording of this story has no file, so its player waits for a rendition.
    unplayed = ("409 ", "Failed to load resource")
    assert [words for words in said if name != "video" or not any(part in words for part in unplayed)] == []


def test_a_tenant_is_suspended_and_resumed_by_keyboard(acme: Cast, site: str, chromium: Any) -> None:
    page = page_of(chromium, site, "operator")
    said = listened(page)
    page.goto(f"{site}/console/tenancy/tenant/{acme.tenant_id}/change/")
    for act, shown in (("Suspend", True), ("End the suspension", False)):
        page.get_by_role("link", name=act).focus()
        page.keyboard.press("Enter")
        page.get_by_role("heading", name=act).first.wait_for()
        page.get_by_role("button", name=act).focus()
        page.keyboard.press("Enter")
        page.get_by_text("This field is required.").wait_for()
        page.get_by_label("Reason").focus()
        page.keyboard.type(REASON)
        page.get_by_role("button", name=act).focus()
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/tenant/{acme.tenant_id}/change/")
        assert (page.get_by_text("Suspended since").count() == 1) is shown
    # The form without a reason was refused, as it should be.
    assert [words for words in said if "400" not in words] == []


TENANT_ACTS: dict[str, tuple[str, dict[str, str], str]] = {
    "plan": ("finance", {"plan": "browser"}, "has the plan browser from now on."),
    "credit": ("finance", {"amount": "12.50", "currency": "EUR"}, "12.5 EUR were granted"),
    "tax": ("finance", {"percent": "19"}, "19"),
    "coupon": ("finance", {"code": "BROWSER"}, "BROWSER"),
    "ceiling": ("finance", {"max_cost": "12.5"}, "12.5"),
    "sign-in-as": ("operator", {"minutes": "15"}, "Your time as"),
    "end-sessions": ("operator", {"member": "bob@example.org (owner)"}, "The sessions of the member in"),
    "throttle": ("operator", {"requests_per_minute": "60"}, "is answered 60 requests a minute and runs 1 jobs"),
    "suspend": ("operator", {}, "is suspended."),
    "erase": ("operator", {"slug": "{slug}"}, "is suspended for good, and is erased in a minute."),
}
"""Acts on a tenant: who does them, the fields of their form, and words of the page afterwards."""


def test_every_act_on_a_tenant_is_done_in_a_browser() -> None:
    # The suspension is ended in a test of its own, right after one.
    assert TENANT_ACTS.keys() | {"resume"} == tenant_acts.ACTS.keys()


def _ready_for_acts(cast: Cast) -> None:
    """Make the plan, the coupon and the member that acts on a tenant name."""
    if not Plan.objects.filter(code="browser").exists():
        version = NewPlanVersion("browser", "standard", timezone.now(), "finance@example.org")
        append_plan_version(version, using="staff")
    if not Coupon.objects.filter(code="BROWSER").exists():
        create_coupon(NewCoupon("BROWSER", "finance@example.org", percent=Decimal(10)), using="staff")
    bob = Person.objects.create_user("bob@example.org")
    with cast.scope():
        Membership.objects.create(tenant_id=cast.tenant_id, person=bob, role="owner")


@pytest.mark.parametrize("name", TENANT_ACTS)
def test_an_act_on_a_tenant_needs_a_reason_and_says_what_it_did(
    acme: Cast, site: str, chromium: Any, name: str
) -> None:
    role, fields, outcome = TENANT_ACTS[name]
    in_a_thread(lambda: _ready_for_acts(acme))
    address = f"{site}/console/tenancy/tenant/{acme.tenant_id}/act/{name}/"
    stranger = page_of(chromium, site, "support")
    assert stranger.goto(address).status == 403
    page = page_of(chromium, site, role)
    said = listened(page)
    page.goto(f"{site}/console/tenancy/tenant/{acme.tenant_id}/change/")
    page.locator(f"a[href$='/act/{name}/']").first.click()
    assert faults_of(page, f"act-{name}") == []
    form = page.locator("form:has([name=reason])").last
    for field, value in fields.items():
        control = form.locator(f"[name={field}]")
        if control.evaluate("field => field.tagName") == "SELECT":
            control.select_option(label=value) if field == "member" else control.select_option(value)
        else:
            control.fill(value.format(slug=acme.slug))
    send = form.get_by_role("button").first
    form.locator("[name=reason]").fill("short")
    send.click()
    page.get_by_text("at least 10 characters").first.wait_for()
    form.locator("[name=reason]").fill(REASON)
    send.click()
    page.get_by_text(outcome).first.wait_for()
    # The form with a short reason was refused, as it should be.
    assert [words for words in said if "400" not in words] == []


def test_a_price_is_previewed_and_appended_by_keyboard(site: str, chromium: Any, database: None) -> None:
    page = page_of(chromium, site, "finance")
    said = listened(page)
    page.goto(f"{site}/console/billing/price/add/")
    page.get_by_label("Book").select_option(label=in_a_thread(_price_book))
    page.get_by_label("Meter").select_option("questions")
    page.get_by_label("Unit amount").focus()
    page.keyboard.type("0.035")
    page.get_by_label("Note").focus()
    page.keyboard.type("Agreed for the new year")
    page.get_by_role("button", name="Preview").focus()
    page.keyboard.press("Enter")
    page.get_by_text("No usage was priced last month.").wait_for()
    assert faults_of(page, "price-preview") == []
    page.get_by_role("button", name="Append the price").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/billing/price/")
    assert page.get_by_text("0.035 USD").first.is_visible()
    assert said == []


def test_a_version_of_a_plan_is_previewed_and_appended_by_keyboard(
    acme: Cast, site: str, chromium: Any, database: None
) -> None:
    page = page_of(chromium, site, "finance")
    said = listened(page)
    page.goto(f"{site}/console/billing/plan/append/?plan=standard")
    page.get_by_label("Allowances").focus()
    page.keyboard.type("questions any 900")
    page.get_by_label("Minimum amount").fill("12.5")
    page.get_by_label("Note").focus()
    page.keyboard.type("What the market asks")
    page.get_by_role("button", name="Preview").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="By tenant").wait_for()
    assert page.get_by_role("row").filter(has=page.get_by_role("link", name="Acme")).first.is_visible()
    assert shows(page, "$12.50")
    assert faults_of(page, "plan-preview") == []
    page.get_by_role("button", name="Append the version").focus()
    page.keyboard.press("Enter")
    page.get_by_text("version 2 was appended.").wait_for()
    assert said == []


@pytest.mark.parametrize("act", ["Mark paid", "Void"])
def test_an_invoice_is_downloaded_and_settled_by_keyboard(acme: Cast, site: str, chromium: Any, act: str) -> None:
    invoice = in_a_thread(lambda: unpaid_invoice(acme))
    page = page_of(chromium, site, "finance")
    said = listened(page)
    page.goto(f"{site}/console/billing/invoice/{invoice}/change/")
    for kind, first in (("PDF", b"%PDF-"), ("CSV", b"number,")):
        with page.expect_download() as download:
            page.get_by_role("link", name=kind, exact=True).focus()
            page.keyboard.press("Enter")
        assert re.fullmatch(rf"INV-.+\.{kind.lower()}", download.value.suggested_filename)
        assert Path(download.value.path()).read_bytes().startswith(first)
    page.locator(".c-acts summary").focus()
    page.keyboard.press("Enter")
    form = page.locator("form").filter(has=page.get_by_role("button", name=act, exact=True))
    for reason in ("paid", REASON):
        form.get_by_label("Reason").focus()
        page.keyboard.type(reason)
        form.get_by_role("button", name=act, exact=True).focus()
        page.keyboard.press("Enter")
        if reason == "paid":
            # The browser itself asks for a longer reason, and sends nothing.
            assert form.locator("input[name=reason]:invalid").count() == 1
            assert faults_of(page, "invoice-acts") == []
            form.get_by_label("Reason").fill("")
    page.get_by_text(f"{act}: done.").wait_for()
    assert (
        page.locator(".c-tile", has_text="State").locator("b").inner_text()
        == {"Mark paid": "paid", "Void": "void"}[act]
    )
    # A paid invoice can still be corrected by a credit note; a void invoice stays as it is.
    assert page.locator(".c-acts").count() == (1 if act == "Mark paid" else 0)
    assert faults_of(page, f"invoice-{act}") == []
    assert said == []


def _price_book() -> str:
    from backend.billing.models import PriceBook

    return str(PriceBook.objects.get(kind="price", currency="USD", tenant_id=None))


def test_empty_pages_say_so(acme: Cast, site: str, chromium: Any) -> None:
    forget_requests()
    page = page_of(chromium, site, "operator", acme)
    said = listened(page)
    tenant = f"tenancy/tenant/{acme.tenant_id}/change/"
    for path, words in {
        "": ["Nothing failed in the last 24 hours.", "No usage in this span.", "No question was answered in this span.",
             "No tenant used anything in this span.", "No answer was judged in this span."],
        "operations/": ["No job fails.", "No worker reports.", "No endpoint fails."],
        "requests/": ["No request of the latest ones matches."],
        tenant: ["No usage in 30 days.", "No month was invoiced yet.", "No credit was granted."],
        "library/video/": ["No results found"],
        "questions/question/": ["No results found"],
        "jobs/breaker/": ["No results found"],
        "billing/invoice/": ["No results found"],
    }.items():  # fmt: skip
        assert page.goto(f"{site}/console/{path}").status == 200, path
        for word in words:
            assert shows(page, word), (path, word)
        assert faults_of(page, f"empty-{path.strip('/').replace('/', '-') or 'overview'}") == []
    assert said == []
    assert page.goto(f"{site}/console/library/video/{UUID(int=7)}/change/").status == 404
    assert page.get_by_text("Nothing has this address.").is_visible()
