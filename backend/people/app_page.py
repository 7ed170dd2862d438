"""/app/…: the one page of the web app. What it shows it asks /v1 for, with the session of the person."""

from __future__ import annotations

import secrets

from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_safe

from backend.api.browsers import page_policy
from backend.people.web_modules import preloads
from backend.tenancy.models import Tenant


@transaction.non_atomic_requests
@require_safe
@login_required
def app_page(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Show the app to whoever is signed in, else lead to the sign-in and back. rest: address of the page in the app."""
    nonce = secrets.token_urlsafe(16)
    reply = render(request, "people/app.html", {"nonce": nonce, "preloads": preloads(rest)})
    reply.headers["Content-Security-Policy"] = page_policy(styled=True, nonce=nonce, scripted=True)
    return reply


@require_safe
def without_slash(request: HttpRequest) -> HttpResponse:
    """Redirect /app to /app/."""
    return HttpResponseRedirect("/app/")


def app_path(tenant: Tenant) -> str:
    """Return where the app of a tenant begins."""
    return reverse("app") + f"{tenant.slug}/"


urlpatterns: list[URLPattern] = [
    path("app", without_slash),
    path("app/", app_page, name="app"),
    path("app/<path:rest>", app_page),
]
