"""The ways into the app in Chromium: front page, sign-in, invitation, an expired session, and several tenants."""

from __future__ import annotations

from typing import Any

from backend.people.models import Person
from tests.browser.chromium import in_a_thread, in_chromium, overhang, pictured, serious_faults
from tests.conftest import Cast
from tests.people.cast import PASSWORD, invited, member_of, person
from tests.web.app import LOOKS, App

pytestmark = in_chromium


def sign_in(app: App, who: Person) -> None:
    app.page.get_by_label("Email").fill(who.email)
    app.page.get_by_label("Password").fill(PASSWORD)
    app.page.keyboard.press("Enter")


def looked_at(app: App, name: str) -> None:
    """Check a page that the service draws itself, in both themes, on a phone and on a desk."""
    for scheme, size in LOOKS:
        app.page.emulate_media(color_scheme=scheme)
        app.page.set_viewport_size(size)
        pictured(app.page, f"way-{name}-{size['width']}-{scheme}")
        assert serious_faults(app.page) == [], (name, scheme)
        assert overhang(app.page) <= 0, (name, size)


def test_a_stranger_comes_from_the_front_page_into_the_library(acme: Cast, app: App) -> None:
    member: Person = in_a_thread(lambda: member_of(acme, "viewer").person)
    app.page.context.clear_cookies()
    app.page.goto(app.site)
    looked_at(app, "front")
    app.page.get_by_role("link", name="Sign in").first.click()
    looked_at(app, "sign-in")
    sign_in(app, member)
    app.page.wait_for_url(f"**/app/{acme.slug}/library")
    app.page.goto(app.site)
    app.page.wait_for_url(f"**/app/{acme.slug}/library")
    app.page.goto(f"{app.site}/accounts/login/")
    app.page.wait_for_url(f"**/app/{acme.slug}/library")


def test_a_member_of_two_tenants_chooses_one_and_comes_back_to_it(acme: Cast, globex: Cast, app: App) -> None:
    def both() -> Person:
        who = member_of(acme, "viewer").person
        member_of(globex, "billing", who)
        return who

    app.sign_in(in_a_thread(both))
    app.page.goto(f"{app.site}/app/")
    app.page.get_by_role("heading", name="Choose a tenant").wait_for()
    app.check("choose-tenant")
    app.page.get_by_role("link", name="Globex").click()
    app.page.wait_for_url(f"**/app/{globex.slug}/usage")
    app.settle()
    app.page.goto(f"{app.site}/app/")
    app.page.wait_for_url(f"**/app/{globex.slug}/usage")


def test_an_expired_session_comes_back_to_the_same_address(acme: Cast, app: App) -> None:
    member: Person = in_a_thread(lambda: member_of(acme, "owner").person)
    app.open("library")
    app.page.context.clear_cookies()
    app.page.evaluate("history.pushState(null, '', location.pathname.replace('library', 'usage/budgets?x=1'))")
    app.page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
    app.page.wait_for_url("**/accounts/login/?next=**")
    assert {each.partition(" ")[0] for each in app.said} <= {"401", "Failed"}
    app.said.clear()
    sign_in(app, member)
    app.page.wait_for_url(f"**/app/{acme.slug}/usage/budgets?x=1")
    app.page.get_by_role("heading", name="Budgets").first.wait_for()


def test_an_invitation_leads_into_the_app_and_names_a_wrong_account(acme: Cast, globex: Cast, app: App) -> None:
    page = app.page
    who: Any = in_a_thread(lambda: person("eve"))
    _, path = in_a_thread(lambda: invited(globex, who.email, "analyst"))
    app.open("library")
    page.goto(app.site + path)
    page.get_by_text("This invitation is for").wait_for()
    assert page.get_by_role("button", name="Accept").count() == 0
    looked_at(app, "wrong-account")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"**{path}")
    looked_at(app, "invitation")
    page.get_by_role("link", name="Sign in to accept").click()
    sign_in(app, who)
    page.get_by_role("button", name=f"Accept as {who.email}").click()
    page.wait_for_url(f"**/app/{globex.slug}/library")
    app.settle()
    page.goto(f"{app.site}/accounts/password/reset/")
    looked_at(app, "account")


def test_a_tenant_that_demands_a_second_factor_says_where_to_set_one_up(acme: Cast, app: App) -> None:
    in_a_thread(lambda: acme.client.patch("/v1/sign-in-settings", {"require_second_factor": True}))
    app.page.goto(f"{app.site}/app/{acme.slug}/library")
    app.page.get_by_role("link", name="Set up a second factor").first.click()
    app.page.wait_for_url("**/accounts/**")
    assert all(each.partition(" ")[0] in {"403", "Failed"} for each in app.said), app.said
    app.said.clear()
