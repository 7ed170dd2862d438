"""/: the app for whoever is signed in, else what this service is. An API client has nothing to do there."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils.cache import patch_vary_headers

HTML = "text/html"


@transaction.non_atomic_requests
def front_page(request: HttpRequest) -> HttpResponse:
    """Lead a signed-in person to the app, and show the page to whoever else prefers HTML to JSON.

    Raises Http404, which is answered as a problem.
    """
    wants = request.get_preferred_type(["application/json", HTML])
    if wants != HTML or request.method not in {"GET", "HEAD"}:
        raise Http404
    reply: HttpResponse
    if request.user.is_authenticated:
        reply = HttpResponseRedirect("/app/")
    else:
        reply = render(request, "api/front_page.html", {"url": settings.PUBLIC_URL})
    patch_vary_headers(reply, ["Accept", "Cookie"])
    return reply


urlpatterns: list[URLPattern] = [path("", front_page)]
