"""The API reference, the guides as text, and the list of them for language models."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.test import Client

from backend.api.reference_pages import GUIDES

pytestmark = pytest.mark.usefixtures("database")


def test_the_reference_loads_its_viewer_from_this_origin() -> None:
    page = Client().get("/docs")

    assert page.status_code == 200
    assert "script-src 'self';" in page.headers["Content-Security-Policy"]
    text = page.content.decode()
    files = re.findall(r'(?:src|href)="([^"]+)"', text)
    assert [name for name in files if not name.startswith("/")] == []
    assert re.findall(r"<script(?! src=)", text) == [], "a script in the page is one that the policy refuses"
    for name in files:
        assert Client().get(name).status_code == 200, name


def test_language_models_find_every_guide_and_the_document() -> None:
    reply = Client().get("/llms.txt")

    text = reply.content.decode()
    assert (reply.status_code, reply.headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert text.startswith("# AVA Cloud\n\n> ")
    linked = re.findall(rf"\({re.escape(settings.PUBLIC_URL)}([^)]+)\)", text)
    assert linked == ["/v1/openapi.json", "/docs", *(f"/docs/{name}.md" for name in GUIDES)]
    for path in linked:
        assert Client().get(path).status_code == 200, path


@pytest.mark.parametrize("name", ["security", "..%2f.env", "adr/0001"])
def test_no_other_page_is_served(name: str) -> None:
    assert Client().get(f"/docs/{name}.md").status_code == 404
