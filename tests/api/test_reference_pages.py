"""The API reference, the guides as text, and the list of them for language models."""

from __future__ import annotations

import html
import re

import pytest
from django.conf import settings
from django.test import Client

from backend.api import guides
from backend.api.guides import GUIDES

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


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_is_a_page_and_a_text_whose_links_lead_somewhere(name: str) -> None:
    page, written = Client().get(f"/docs/{name}"), Client().get(f"/docs/{name}.md")

    assert (page.status_code, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "style-src 'self';" in page.headers["Content-Security-Policy"]
    shown = page.content.decode()
    assert f"<h1>{html.escape(re.findall(r'^# (.+)', written.content.decode())[0])}</h1>" in shown
    assert "<h2" in shown
    assert "```" not in re.sub(r"<pre.*?</pre>", "", shown, flags=re.DOTALL)
    for link in set(re.findall(r'href="([^"]+)"', shown)):
        path, _, anchor = html.unescape(link).partition("#")
        if path.startswith("/static/") or path == "data:,":
            continue
        assert not path.endswith(".md") or path == f"/docs/{name}.md", path
        target = Client().get(path, headers={"Accept": "text/html"}) if path.startswith("/") else page
        assert target.status_code == 200 or path.startswith("https://"), path
        assert not anchor or f'id="{anchor}"' in target.content.decode(), link


def test_a_guide_runs_nothing_that_stands_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guides, "markdown_of", lambda name: "# A <b>\n<script>x</script>\n\n[a](javascript:x) `<i>`")

    page = guides.guide_of.__wrapped__("billing")

    assert (page.title, page.body) == (
        "A <b>", "<p>&lt;script&gt;x&lt;/script&gt;</p>\n<p>[a](javascript:x) <code>&lt;i&gt;</code></p>\n"
    )  # fmt: skip


@pytest.mark.parametrize("name", ["security", "..%2f.env", "adr/0001"])
def test_no_other_page_is_served(name: str) -> None:
    assert Client().get(f"/docs/{name}.md").status_code == 404
    assert Client().get(f"/docs/{name}").status_code == 404
