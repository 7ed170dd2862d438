"""/v1/shares: links that show one answer, one recording or one clip to whoever has them."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import page_of, parsed
from backend.api.idempotency import idempotent
from backend.api.listing import list_query
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.public_ids import decode, encode
from backend.api.views import TenantView
from backend.clips.queries import clips
from backend.library import queries as library
from backend.library.models import VideoStatus
from backend.questions.queries import questions
from backend.shares import queries
from backend.shares.bodies import (
    NewSharedLinkSerializer,
    SharedLinkSerializer,
    ShareQuerySerializer,
    ShareRequestSerializer,
    share_body,
    share_with_link_body,
)
from backend.shares.services import links
from backend.shares.services.links import Subject
from backend.tenancy.authentication import Principal
from backend.tenancy.refusals import Refused

TAGS = ["Shares"]
SCOPE = "shares:write"


class SharesView(TenantView):
    scopes = {"GET": SCOPE, "POST": SCOPE}
    audited = {"POST": "share.created"}

    @extend_schema(
        operation_id="listShares",
        parameters=[ShareQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("SharedLinkPage", SharedLinkSerializer),
        tags=TAGS,
    )
    def get(self, request: Request) -> Response:
        """List shares, newest first, with how often each was viewed. Ended shares are in the list."""
        query, wish = list_query(ShareQuerySerializer, request)
        return page(request, wish.of(queries.shares(**query)), serialize=share_body, order=wish.order)

    @extend_schema(
        operation_id="createShare",
        request=ShareRequestSerializer,
        responses={201: NewSharedLinkSerializer},
        tags=TAGS,
    )
    @idempotent(secret=True)
    def post(self, request: Request) -> Response:
        """Make a link that shows one answer, one recording, a span of it, or one clip to whoever has it, until it ends.

        The caller also needs the scope that reads the shared thing: `questions:read` or `videos:read`. A share does
        not outlive the key that makes it, and a share of a clip ends with the clip.
        """
        body = parsed(ShareRequestSerializer, request)
        limit = self.principal.expires_at
        if limit is not None and body["expires_at"] > limit:
            detail = "A share cannot outlive the key that makes it."
            raise Refused("beyond_maker", detail, status=403, pointer="/expires_at")
        question = video = clip = None
        if question_id := body.pop("question_id", None):
            _needs(self.principal, "questions:read")
            if body["play_recordings"]:
                _needs(self.principal, "videos:read")
            question = self.get_or_404(questions.questions(), question_id)
        if video_id := body.pop("video_id", None):
            _needs(self.principal, "videos:read")
            video = self.get_or_404(library.videos().exclude(status=VideoStatus.DELETING), video_id)
        if clip_id := body.pop("clip_id", None):
            _needs(self.principal, "videos:read")
            clip = self.get_or_404(clips(), clip_id)
        share, url = links.create_share(Subject(question=question, video=video, clip=clip), **body)
        self.audit_details = _details(share_body(share))
        headers = {"Location": f"/v1/shares/{encode('shr', share.id)}", "Cache-Control": "no-store"}
        return Response(share_with_link_body(share, url), status=201, headers=headers)


class ShareView(TenantView):
    scopes = {"GET": SCOPE, "DELETE": SCOPE}
    audited = {"DELETE": "share.revoked"}

    @extend_schema(operation_id="getShare", responses=SharedLinkSerializer, tags=TAGS)
    def get(self, request: Request, share_id: str) -> Response:
        """Return one share without its link."""
        return Response(share_body(self.get_or_404(queries.shares(), decode("shr", share_id))))

    @extend_schema(operation_id="revokeShare", responses={204: None}, tags=TAGS)
    def delete(self, request: Request, share_id: str) -> Response:
        """Revoke a share. Its page is gone at once; URLs of media that it has shown end within 45 minutes."""
        links.revoke(self.get_or_404(queries.shares(), decode("shr", share_id)))
        return Response(status=204)


def _needs(caller: Principal, scope: str) -> None:
    if not caller.may(scope):
        raise PermissionDenied(f"Sharing this needs the scope {scope} as well.", code="insufficient_scope")


def _details(body: dict[str, Any]) -> dict[str, Any]:
    named = ("question_id", "video_id", "clip_id", "start_ms", "end_ms", "play_recordings", "expires_at")
    return {name: body[name] for name in named if body[name] not in (None, False)}


routes = [
    path("shares", SharesView.as_view()),
    path("shares/<str:share_id>", ShareView.as_view()),
]
