"""`/`: what a browser and an API client get there, and that no page leads to nowhere."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
PAGES = ("/", "/errors", "/accounts/login/", "/accounts/signup/", "/share/never-made", "/accounts/invitations/x/")


def seen(path: str, accept: str = BROWSER) -> Any:
    return Client().get(path, headers={"accept": accept})


def test_a_browser_reads_what_this_is_and_where_to_go(database: None) -> None:
    page = seen("/")
    words = page.content.decode()
    assert (page.status_code, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    for target in ("/accounts/login/?next=/app/", "/docs", "/v1/openapi.json", "/readyz"):
        assert f'href="{target}"' in words, target
    assert "Accept" in page.headers["Vary"]


@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/json, text/html;q=0.5", ""])
def test_an_api_client_gets_a_problem(database: None, accept: str) -> None:
    reply = seen("/", accept)
    assert (reply.status_code, reply.headers["Content-Type"]) == (404, "application/problem+json")
    assert reply.json()["code"] == "not_found"


def test_only_reads_get_the_page(database: None) -> None:
    replies = [getattr(Client(), method)("/", headers={"accept": BROWSER}) for method in ("head", "post", "delete")]
    assert [reply.status_code for reply in replies] == [200, 404, 404]


@pytest.mark.parametrize("path", PAGES)
def test_pages_share_two_stylesheets_of_our_own(database: None, path: str) -> None:
    sheets = re.findall(r'<link rel="stylesheet" href="([^"]+)"', seen(path).content.decode())
    assert sheets == ["/static/web/app/tokens.css", "/static/api/pages.css"]
    assert "style-src 'self';" in seen(path).headers["Content-Security-Policy"]
    assert not re.search(r"<style|\sstyle=", seen(path).content.decode())
    colours, rules = (Client().get(sheet) for sheet in sheets)
    assert [(sheet.status_code, sheet.headers["Content-Type"]) for sheet in (colours, rules)] == (
        [(200, 'text/css; charset="utf-8"')] * 2
    )
    assert "prefers-color-scheme: dark" in b"".join(colours).decode()


@pytest.mark.parametrize("path", PAGES)
def test_no_link_of_a_page_leads_to_nowhere(database: None, path: str) -> None:
    links = set(re.findall(r'href="(/[^"#?]*)', seen(path).content.decode()))
    assert {link: status for link in links if (status := seen(link).status_code) >= 400} == {}
