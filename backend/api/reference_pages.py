"""/docs: the API reference in Swagger UI, served from its package. /docs/….md and /llms.txt: the guides as text."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.templatetags.static import static
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.views.decorators.http import require_safe

FOLDER = Path(__file__).parents[2] / "docs"
GUIDES = {
    "quickstart": "From an empty machine to the first answer.",
    "api": "Every call with an example: upload, ask, search, stream, webhooks, budgets, keys.",
    "answers": "How to read an answer, its evidence and its confidence.",
    "methods": "The answering methods, and when to use which.",
    "engine": "How a video is indexed and how a question is answered.",
    "errors": "Every error code, its meaning and what to do.",
    "billing": "What is charged, when, and how invoices are made.",
}
"""Pages of FOLDER that customers read, with what each is about."""
_VIEWER = "drf_spectacular_sidecar/swagger-ui-dist"
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · AVA Cloud</title><link rel="icon" href="{}"><link rel="stylesheet" href="{}"></head>
<body><main id="reference"></main><noscript><p>The reference needs JavaScript. The same as text:
<a href="/v1/openapi.json">openapi.json</a> and <a href="/docs/api.md">the guide</a>.</p></noscript>
<script src="{}"></script><script src="{}"></script></body>
</html>
"""


@transaction.non_atomic_requests
@require_safe
def reference(request: HttpRequest) -> HttpResponse:
    """Show /v1/openapi.json in Swagger UI. Only our own origin serves its scripts and gets its requests."""
    own = static("api/reference.js")
    files = (static(f"{_VIEWER}/{name}") for name in ("favicon-32x32.png", "swagger-ui.css", "swagger-ui-bundle.js"))
    return HttpResponse(format_html(_PAGE, *files, own))


@transaction.non_atomic_requests
@require_safe
def guide(request: HttpRequest, name: str) -> HttpResponse:
    """Return a guide in Markdown. Raises Http404 for any other page."""
    if name not in GUIDES:
        raise Http404
    return _text(_guide(name), "text/markdown")


@transaction.non_atomic_requests
@require_safe
def llms(request: HttpRequest) -> HttpResponse:
    """Return the list of guides for language models (llmstxt.org)."""
    url = settings.PUBLIC_URL
    guides = [f"- [{name}]({url}/docs/{name}.md): {about}" for name, about in GUIDES.items()]
    lines = [
        "# AVA Cloud",
        "",
        "> Index long videos, and ask open questions about them. Answers come with evidence: times, pictures, quotes.",
        "",
        f"The API is JSON over HTTPS under `{url}/v1`. A request needs `Authorization: Bearer <API key>`.",
        "",
        "## API",
        f"- [OpenAPI 3.1 document]({url}/v1/openapi.json): every operation, field and webhook.",
        f"- [Reference]({url}/docs): the same document for people.",
        "",
        "## Guides",
        *guides,
        "",
    ]
    return _text("\n".join(lines), "text/plain")


@cache
def _guide(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text()


def _text(content: str, media_type: str) -> HttpResponse:
    return HttpResponse(content, content_type=f"{media_type}; charset=utf-8")


urlpatterns: list[URLPattern] = [
    path("docs", reference),
    path("docs/<str:name>.md", guide),
    path("llms.txt", llms),
]
