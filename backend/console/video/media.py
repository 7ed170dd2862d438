"""Media for the player of a video's page: the routes of the API, for staff to whom the tenant's content is open now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import URLPattern, path

from backend.api.public_ids import decode
from backend.console.access.gate import member_of
from backend.playback.api import routes
from backend.playback.authentication import TOKEN, TokenAuthentication
from backend.playback.services.tokens import tenant_of
from backend.staff import services

BASE = "/console/media"
"""Where the routes lie: under the console, whose gate asks for a sign-in."""


def _for_staff(view: Any) -> Callable[..., HttpResponseBase]:
    """Return a view of the API that takes a token of the page, and no key and no session of a customer."""
    served: Callable[..., HttpResponseBase] = view.as_view(authentication_classes=(TokenAuthentication,))

    def guarded(request: HttpRequest, video_id: str, **named: Any) -> HttpResponseBase:
        # Raises Http404 for what is no id.
        member, tenant_id = member_of(request), tenant_of(request.GET.get(TOKEN, ""), decode("vid", video_id))
        if member is None or tenant_id is None or services.access_to(member, tenant_id) is None:
            return HttpResponse(status=404)
        return served(request, video_id=video_id, **named)

    return guarded


urlpatterns: list[URLPattern] = [
    path(f"{BASE.strip('/')}/{route.pattern}", _for_staff(route.callback.cls))
    for route in routes
    if TokenAuthentication in route.callback.cls.authentication_classes
]
