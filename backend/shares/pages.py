"""/share/<token>: the page of a share, for whoever has its link."""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass
from datetime import timedelta

from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils import timezone
from django.views.decorators.http import require_safe

from backend.api.browsers import page_policy
from backend.api.limits import rate_limits
from backend.api.problems import Problem, as_json, problem_of
from backend.playback.player import PlayedRecording, played_recordings
from backend.shares import queries
from backend.shares.services.links import count_view
from backend.shares.services.pages import Page, page_of
from backend.tenancy import origins
from backend.tenancy.context import bounded_statements, tenant_scope
from backend.tenancy.link_tokens import digest_of
from backend.tenancy.networks import client_address
from backend.tenancy.refusals import TenantMoving

VIEWS_PER_MINUTE = 60
"""Views of one share in a minute: each one writes its row, and a link may be passed to anybody."""
STATEMENT_SECONDS = 5
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Robots-Tag": "noindex, nofollow",
    # The address is the secret.
    "Referrer-Policy": "no-referrer",
}


EMBED, RENEWAL = "embed", "recordings"
"""Parameters of a page: another page shows it in a frame; its player wants new addresses of its recordings."""
PLAYED_FOR = timedelta(minutes=15)
"""Time after which the player's addresses end, so that a share which is revoked does not play on for longer."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a page shows. recordings: of its player. framed_by: origins whose pages may show it in a frame."""

    page: Page
    recordings: list[PlayedRecording]
    framed_by: list[str]


@transaction.non_atomic_requests
@require_safe
def share_page(request: HttpRequest, token: str) -> HttpResponseBase:
    """Show what a share shows. A share that has ended is answered like a token that never existed."""
    try:
        with bounded_statements(STATEMENT_SECONDS):
            shown = _shown(request, token)
    except (Problem, TenantMoving) as error:
        reply: HttpResponse = as_json(problem_of(error), request)
    else:
        reply = render(request, "shares/ended.html", status=404) if shown is None else _drawn(request, shown)
    for name, value in _HEADERS.items():
        reply.headers[name] = value
    return reply


def _drawn(request: HttpRequest, shown: Shown) -> HttpResponse:
    nonce = secrets.token_urlsafe(16) if shown.recordings else ""
    recordings = [asdict(each) for each in shown.recordings]
    if RENEWAL in request.GET:
        return JsonResponse(recordings, safe=False)
    named = {"page": shown.page, "recordings": recordings, "nonce": nonce, "renewal": f"?{RENEWAL}=1"}
    reply = render(request, "shares/embedded.html" if EMBED in request.GET else "shares/share.html", named)
    reply.headers["Content-Security-Policy"] = page_policy(styled=True, nonce=nonce, framed_by=shown.framed_by)
    # X-Frame-Options cannot name origins; browsers that know frame-ancestors pass over it.
    reply.xframe_options_exempt = bool(shown.framed_by)
    return reply


def _shown(request: HttpRequest, token: str) -> Shown | None:
    """Return what the share of a token shows, and count the view. Raises Problem `rate_limited`, TenantMoving."""
    share = queries.living_share(digest_of(token))
    if share is None:
        return None
    rate_limits.take_of(share.id, VIEWS_PER_MINUTE).check()
    with tenant_scope(share.tenant_id):
        page = page_of(share)
        if page is None:
            return None
        if request.method == "GET" and RENEWAL not in request.GET:
            count_view(share, page, address=client_address(request), request_id=getattr(request, "request_id", ""))
        framed_by = origins.origins().embed if EMBED in request.GET else []
        until = min(share.expires_at, timezone.now() + PLAYED_FOR)
        return Shown(page, played_recordings(page.played, until=until), framed_by)


urlpatterns: list[URLPattern] = [path("<str:token>", share_page, name="share")]
