"""The page of the web app: who gets it, its policy, its files, and what it needs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from bench.web import entry_modules, gzipped, sheets
from infra.web_lint.__main__ import sizes
from tests.conftest import Cast
from tests.people.cast import Browser, member_of, person

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
ENTRY_BYTES, SHEET_BYTES = 90_000, 30_000


def opened(client: Any, path: str) -> Any:
    return client.get(path, headers={"accept": BROWSER})


def test_a_stranger_is_led_to_the_sign_in_and_back(database: None) -> None:
    reply = opened(Client(), "/app/acme/videos/vid_1?t=5")
    assert (reply.status_code, reply["Location"]) == (302, "/accounts/login/?next=/app/acme/videos/vid_1%3Ft%3D5")
    assert opened(Client(), "/app")["Location"] == "/app/"


def test_whoever_is_signed_in_gets_the_page_under_a_strict_policy(acme: Cast) -> None:
    browser = Browser(member_of(acme, "viewer").person, acme.slug)
    replies = [opened(browser, path) for path in ("/app/", f"/app/{acme.slug}/library", "/app/nobody/anything/else")]
    for reply in replies:
        words, policy = reply.content.decode(), reply["Content-Security-Policy"]
        (nonce,) = set(re.findall(r'nonce="([^"]+)"', words))
        assert reply.status_code == 200
        assert f"script-src 'self' 'nonce-{nonce}';" in policy
        assert f"style-src 'self' 'nonce-{nonce}';" in policy
        assert "unsafe" not in policy
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=", words)
    assert replies[0]["Cache-Control"] == "no-store" or "no-cache" in replies[0]["Cache-Control"]
    assert len({reply["Content-Security-Policy"] for reply in replies}) == 3


def test_a_person_without_a_tenant_gets_the_page_and_the_api_says_so(database: None) -> None:
    browser = Browser(person("eve"))
    assert opened(browser, "/app/").status_code == 200
    assert browser.get("/v1/me").json()["tenants"] == []


def test_the_front_page_leads_people_to_the_app_and_programs_nowhere(acme: Cast) -> None:
    browser = Browser(member_of(acme, "viewer").person)
    assert (opened(browser, "/").status_code, opened(browser, "/")["Location"]) == (302, "/app/")
    assert browser.get("/", headers={"accept": "application/json"}).json()["code"] == "not_found"
    assert opened(Client(), "/").status_code == 200


def test_every_file_that_the_page_names_is_served(acme: Cast) -> None:
    words = opened(Browser(member_of(acme, "viewer").person), "/app/").content.decode()
    files = set(re.findall(r'"(/static/[^"]+)"', words))
    assert {name: Client().get(name).status_code for name in files if Client().get(name).status_code != 200} == {}
    assert "/static/web/app/main.js" in files


@pytest.mark.parametrize("role", ["viewer", "analyst", "developer", "billing"])
def test_the_app_learns_what_a_role_may_do(acme: Cast, role: str) -> None:
    browser = Browser(member_of(acme, role).person, acme.slug)
    (tenant,) = browser.get("/v1/me").json()["tenants"]
    assert (tenant["slug"], tenant["role"]) == (acme.slug, role)
    assert ("videos:read" in tenant["scopes"]) == (role != "billing")


def test_each_import_of_a_module_names_a_file() -> None:
    web = Path(settings.BASE_DIR) / "web"
    named = {"lit", "lit-html", "@lit/reactive-element", "intl-messageformat", "ava-player"}
    for module in web.rglob("*.js"):
        if "vendor" in module.parts:
            continue
        for target in re.findall(
            r'^(?:\} from|import [^"(]* from|import) "([^"]+)"|import\("([^"]+)"\)', module.read_text(), re.M
        ):
            name = target[0] or target[1]
            assert name in named or name.startswith("../../frontend_api_schema") or (module.parent / name).is_file(), (
                module, name)  # fmt: skip


def test_the_entry_and_the_sheets_are_small() -> None:
    assert gzipped(entry_modules()) <= ENTRY_BYTES
    assert gzipped(sheets()) <= SHEET_BYTES
    assert sizes()
