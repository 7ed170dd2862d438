"""/docs: the API reference in Swagger UI, served from its package. /docs/…: the guides, as pages and as text."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.views.decorators.http import require_safe

from backend.api.guides import GUIDES, guide_of, markdown_of

_VIEWER = "drf_spectacular_sidecar/swagger-ui-dist"
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · AVA Cloud</title><link rel="icon" href="{}"><link rel="stylesheet" href="{}"></head>
<body><main id="reference"></main><noscript><p>The reference needs JavaScript. The same as text:
<a href="/v1/openapi.json">openapi.json</a> and <a href="/docs/api">the guide</a>.</p></noscript>
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
    """Show a guide. Raises Http404 for any other page."""
    if name not in GUIDES:
        raise Http404
    return render(request, "api/guide.html", {"guide": guide_of(name), "guides": GUIDES, "name": name})


@transaction.non_atomic_requests
@require_safe
def guide_text(request: HttpRequest, name: str) -> HttpResponse:
    """Return a guide in Markdown. Raises Http404 for any other page."""
    if name not in GUIDES:
        raise Http404
    return _text(markdown_of(name), "text/markdown")


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


def _text(content: str, media_type: str) -> HttpResponse:
    return HttpResponse(content, content_type=f"{media_type}; charset=utf-8")


urlpatterns: list[URLPattern] = [
    path("docs", reference),
    path("docs/<str:name>.md", guide_text),
    path("docs/<str:name>", guide),
    path("llms.txt", llms),
]
