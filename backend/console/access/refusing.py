"""The pages for what a role may not open, and for what does not exist."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from backend.console.access.viewing import role_of
from backend.console.site import site


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Name the role that the page does not open for."""
    role = role_of(request).replace("_", " ")
    words = f"Your role is {role}, and this page is for other roles." if role else "Sign in with a role of the console."
    return _page(request, "Not for your role", words, 403)


def missing(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say that nothing has this address."""
    return _page(request, "Nothing here", "Nothing has this address. It may have been deleted.", 404)


def _page(request: HttpRequest, title: str, words: str, status: int) -> HttpResponse:
    context = {**site.each_context(request), "title": title, "words": words}
    reply = TemplateResponse(request, "console/refused.html", context, status=status)
    reply.render()
    return reply
