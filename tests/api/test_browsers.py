"""Headers that browsers obey, and pages of other origins that use a tenant's keys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from rest_framework.test import APIClient

from backend.api.browsers import page_policy
from tests.conftest import Cast

APP = "https://app.example.com"
OTHER = "https://other.example.com"


def allow(cast: Cast, *origins: str) -> Any:
    return cast.client.put("/v1/allowed-origins", {"origins": list(origins)})


def preflight(origin: str) -> Any:
    return APIClient().options("/v1/videos", HTTP_ORIGIN=origin, HTTP_ACCESS_CONTROL_REQUEST_METHOD="POST")


def test_only_origins_that_the_tenant_lists_read_its_replies(acme: Cast, globex: Cast) -> None:
    none = {"object": "allowed_origins", "origins": [], "embed_origins": []}
    assert acme.client.get("/v1/allowed-origins").json() == none
    mine, theirs = f"https://{acme.slug}.example.com", f"https://{globex.slug}.example.com"
    assert allow(acme, mine, mine).json()["origins"] == [mine]
    assert allow(globex, theirs).status_code == 200

    read = acme.client.get("/v1/videos", HTTP_ORIGIN=mine)
    assert read["Access-Control-Allow-Origin"] == mine
    assert "Origin" in read["Vary"]
    assert "ETag" in read["Access-Control-Expose-Headers"]
    for client, origin in ((globex.client, mine), (acme.client, theirs), (acme.client, "null")):
        response = client.get("/v1/videos", HTTP_ORIGIN=origin)
        assert response.status_code == 200
        assert "Access-Control-Allow-Origin" not in response
    assert "Access-Control-Allow-Credentials" not in read

    asked = preflight(mine)
    assert (asked.status_code, asked["Access-Control-Allow-Origin"]) == (204, mine)
    assert "POST" in asked["Access-Control-Allow-Methods"]
    assert "Idempotency-Key" in asked["Access-Control-Allow-Headers"]
    unknown = preflight(f"https://{acme.slug}.elsewhere.example")
    assert (unknown.status_code, "Access-Control-Allow-Origin" in unknown) == (204, False)
    refused = APIClient().get("/v1/videos", HTTP_ORIGIN=mine, HTTP_AUTHORIZATION="Bearer vk_live_wrong")
    assert (refused.status_code, refused["Access-Control-Allow-Origin"]) == (401, mine)


@pytest.mark.parametrize(
    "origin",
    ["*", "null", "http://app.example.com", "https://app.example.com/", "https://*.example.com", "https://a b"],
)
def test_what_is_no_origin_is_refused(acme: Cast, origin: str) -> None:
    response = allow(acme, APP, origin)
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (400, "/origins/1")
    assert acme.client.get("/v1/allowed-origins").json()["origins"] == []


def test_replies_of_the_api_are_not_stored_and_run_nothing(acme: Cast) -> None:
    for response in (
        acme.client.get("/v1/videos"),
        acme.client.get("/v1/videos/unknown"),
        APIClient().get("/v1/usage"),
    ):
        assert response["Cache-Control"] == "no-store"
        assert response["Content-Security-Policy"] == (
            "default-src 'none'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
        )
        assert "camera=()" in response["Permissions-Policy"]
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["Content-Type"] in {"application/json", "application/problem+json"}
        assert response["Referrer-Policy"] == "same-origin"


def test_pages_run_only_our_scripts_and_are_not_framed(database: None) -> None:
    page = APIClient().get("/accounts/login/")
    assert page.status_code == 200
    policy = page["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "object-src 'none'" in policy
    assert "form-action 'self';" in policy
    assert "geolocation=()" in page["Permissions-Policy"]
    assert "no-store" in page["Cache-Control"]
    assert page["Content-Type"] == "text/html; charset=utf-8"
    assert page["Referrer-Policy"] == "same-origin"


@pytest.mark.parametrize(("console", "allowed"), [(False, ["'self'"]), (True, ["'self'", "'unsafe-eval'"])])
def test_no_page_runs_a_script_that_stands_in_it(console: bool, allowed: list[str]) -> None:
    (scripts,) = (part for part in page_policy(console=console).split("; ") if part.startswith("script-src "))
    assert scripts.split()[1:] == allowed


def test_a_form_leads_elsewhere_only_on_the_page_of_an_identity_provider() -> None:
    targets = {
        leaves: next(part for part in page_policy(leaves=leaves).split("; ") if part.startswith("form-action"))
        for leaves in (False, True)
    }
    assert targets == {False: "form-action 'self'", True: "form-action 'self' https:"}


_SEEN = """
import json, django
django.setup()
from django.test import Client
reply = Client().get("/accounts/login/", secure=True, headers={"host": "api.example.org"})
cookies = {name: [bool(one["secure"]), one["path"], one["domain"]] for name, one in reply.cookies.items()}
print(json.dumps([reply.headers.get("Strict-Transport-Security"), cookies]))
"""


def test_behind_https_a_browser_comes_back_by_https_and_keeps_cookies_for_this_host(database: None) -> None:
    public = {"AVA_PUBLIC_URL": "https://api.example.org", "AVA_ALLOWED_HOSTS": "api.example.org"}
    shown = subprocess.run(
        [sys.executable, "-c", _SEEN], env={**os.environ, **public}, check=True, capture_output=True, text=True
    )
    assert json.loads(shown.stdout.splitlines()[-1]) == ["max-age=31536000", {"__Host-ava_csrf": [True, "/", ""]}]
