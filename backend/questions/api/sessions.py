"""/v1/sessions: conversations about one scope. Their questions are asked at /v1/questions."""

from __future__ import annotations

from typing import Any, ClassVar

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api import public_ids
from backend.api.bodies import MAX_TIME_MS, Body, MetadataField, page_of, parsed
from backend.api.idempotency import idempotent
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.views import TenantView
from backend.questions.models import Session
from backend.questions.queries.scopes import MAX_VIDEOS
from backend.questions.services import sessions


class NewSessionSerializer(Body):
    video_ids = serializers.ListField(
        child=public_ids.PublicIdField("vid"), required=False, min_length=1, max_length=MAX_VIDEOS
    )
    collection_id = public_ids.PublicIdField("col", required=False)
    start_ms = serializers.IntegerField(min_value=0, max_value=MAX_TIME_MS, required=False, allow_null=True)
    end_ms = serializers.IntegerField(min_value=1, max_value=MAX_TIME_MS, required=False, allow_null=True)
    external_id = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    metadata = MetadataField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("video_ids" in attrs) == ("collection_id" in attrs):
            raise serializers.ValidationError("Give either video_ids or collection_id.", code="scope_required")
        return attrs


class SessionSerializer(serializers.Serializer[Any]):
    id = public_ids.PublicIdField("ses")
    object = serializers.CharField()
    video_ids = serializers.ListField(
        child=public_ids.PublicIdField("vid"), help_text="As asked for; empty for a collection."
    )
    collection_id = public_ids.PublicIdField("col", allow_null=True)
    start_ms = serializers.IntegerField(allow_null=True)
    end_ms = serializers.IntegerField(allow_null=True)
    turns = serializers.IntegerField(help_text="Questions asked in it.")
    external_id = serializers.CharField()
    metadata = serializers.DictField(child=serializers.CharField())
    created_at = serializers.DateTimeField()


def represent(session: Session, *, turns: int) -> dict[str, Any]:
    scope = sessions.scope_of(session)
    collection = scope.wish.collection_id
    return {
        "id": public_ids.encode("ses", session.id),
        "object": "session",
        "video_ids": [public_ids.encode("vid", video) for video in sorted(scope.wish.video_ids)],
        "collection_id": None if collection is None else public_ids.encode("col", collection),
        "start_ms": scope.start_ms,
        "end_ms": scope.end_ms,
        "turns": turns,
        "external_id": session.external_id,
        "metadata": session.metadata,
        "created_at": session.created_at,
    }


class SessionsView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": "questions:read", "POST": "questions:write"}

    @extend_schema(operation_id="sessions_create", request=NewSessionSerializer, responses={201: SessionSerializer})
    @idempotent()
    def post(self, request: Request) -> Response:
        """Begin a session; nothing is charged until something is asked in it."""
        session = sessions.create_session(**parsed(NewSessionSerializer, request))
        location = f"/v1/sessions/{public_ids.encode('ses', session.id)}"
        return Response(represent(session, turns=0), status=201, headers={"Location": location})

    @extend_schema(
        operation_id="sessions_list",
        parameters=[OpenApiParameter("external_id", str), *PAGE_PARAMETERS],
        responses=page_of("SessionPage", SessionSerializer),
    )
    def get(self, request: Request) -> Response:
        """Sessions, newest first."""
        rows = sessions.sessions(external_id=request.query_params.get("external_id", ""))
        return page(request, rows, serialize=lambda row: represent(row, turns=row.turns))


class SessionView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": "questions:read", "DELETE": "questions:write"}

    @extend_schema(operation_id="sessions_get", responses=SessionSerializer)
    def get(self, request: Request, session_id: str) -> Response:
        """One session; `/v1/questions?session_id=` lists what was asked in it."""
        row: Any = self.get_or_404(sessions.sessions(), public_ids.decode("ses", session_id))
        return Response(represent(row, turns=row.turns))

    @extend_schema(operation_id="sessions_delete", responses={204: None})
    def delete(self, request: Request, session_id: str) -> Response:
        """End a session. Its questions and their answers stay, without it."""
        session = self.get_or_404(sessions.sessions(), public_ids.decode("ses", session_id))
        sessions.delete_session(session_id=session.id)
        return Response(status=204)


routes: list[Any] = [
    path("sessions", SessionsView.as_view(), name="sessions"),
    path("sessions/<str:session_id>", SessionView.as_view(), name="session"),
]
