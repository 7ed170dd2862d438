"""/v1/clips: parts of recordings as files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import listed, page_of, parsed
from backend.api.idempotency import idempotent
from backend.api.listing import list_query
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.public_ids import decode, encode
from backend.api.views import SteppedTenantView, TenantView, get_or_404
from backend.clips import queries
from backend.clips.bodies import ClipQuerySerializer, ClipRequestSerializer, ClipSerializer
from backend.clips.models import Clip
from backend.clips.services import clips
from backend.clips.services.links import note_links
from backend.library.models import VideoStatus
from backend.library.queries import videos
from backend.library.services.deletion_ledger import Deleted, recorded
from backend.questions.queries.questions import questions

TAGS = ["Clips"]


def _clip(clip_id: str) -> Clip:
    return get_or_404(queries.clips(), decode("clp", clip_id))


def _with_links(rows: Sequence[Clip]) -> list[dict[str, Any]]:
    """Return clips with links to their files, which are noted."""
    note_links(rows)
    return listed(ClipSerializer, rows)


class ClipsView(TenantView):
    scopes = {"GET": "videos:read", "POST": "clips:write"}
    audited = {"POST": "clip.created"}

    @extend_schema(
        operation_id="listClips",
        parameters=[ClipQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("ClipPage", ClipSerializer),
        tags=TAGS,
    )
    def get(self, request: Request) -> Response:
        """List clips, newest first."""
        query, wish = list_query(ClipQuerySerializer, request)
        rows = wish.of(queries.clips(**query))
        return page(request, rows, serialize_many=_with_links, order=wish.order)

    @extend_schema(operation_id="createClip", request=ClipRequestSerializer, responses={202: ClipSerializer}, tags=TAGS)
    @idempotent()
    def post(self, request: Request) -> Response:
        """Make a clip of a recording: an MP4 of at most ten minutes, with a poster and captions.

        The reply is 202. Read the clip until it is `ready`, or wait for the webhook event `clip.ready`.
        """
        body = parsed(ClipRequestSerializer, request)
        video = get_or_404(videos().exclude(status=VideoStatus.DELETING), body.pop("video_id"))
        question_id = body.pop("question_id")
        question = None if question_id is None else get_or_404(questions(video_id=video.id), question_id)
        clip = clips.create_clip(video=video, question=question, **body)
        self.audit_details = {
            "video_id": encode("vid", video.id), "start_ms": clip.start_ms, "end_ms": clip.end_ms,
        }  # fmt: skip
        location = f"/v1/clips/{encode('clp', clip.id)}"
        return Response(ClipSerializer(clip).data, status=202, headers={"Location": location})


class ClipView(SteppedTenantView):
    scopes = {"GET": "videos:read", "DELETE": "clips:write"}
    audited = {"DELETE": "clip.deleted"}
    stepped = frozenset({"DELETE"})

    @extend_schema(operation_id="getClip", responses=ClipSerializer, tags=TAGS)
    def get(self, request: Request, clip_id: str) -> Response:
        """Get a clip, with links to its file, its poster and its captions once it is made."""
        return Response(_with_links([_clip(clip_id)])[0])

    @extend_schema(operation_id="deleteClip", responses={204: None}, tags=TAGS)
    def delete(self, request: Request, clip_id: str) -> Response:
        """Delete a clip with its files and shares. A clip that is not made yet is canceled."""
        with self.step():
            id = _clip(clip_id).id
        with recorded(Deleted.CLIP, self.principal.tenant_id, id), self.step():
            clips.drop_clip(id)
            self.note_act(clip_id)
        return Response(status=204)


routes: list[Any] = [
    path("clips", ClipsView.as_view()),
    path("clips/<str:clip_id>", ClipView.as_view()),
]
