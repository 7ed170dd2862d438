"""/v1/sessions: conversations about one scope. Their questions are asked at /v1/questions."""

from __future__ import annotations

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
from backend.api.views import SteppedTenantView, TenantView
from backend.library.services.deletion_ledger import Deleted
from backend.questions.api.deleting import deleted
from backend.questions.bodies.sessions import SessionQuerySerializer, SessionRequestSerializer, SessionSerializer
from backend.questions.models import Session
from backend.questions.queries import sessions as session_queries
from backend.questions.services import deletions, sessions

TAGS = ["Sessions"]


def _session(session_id: str) -> Session:
    return TenantView.get_or_404(session_queries.sessions(), decode("ses", session_id))


def _body(session: Session) -> dict[str, Any]:
    return SessionSerializer(session_queries.view_of(session)).data


class SessionsView(TenantView):
    scopes = {"GET": "questions:read", "POST": "questions:write"}

    @extend_schema(
        operation_id="createSession", tags=TAGS, request=SessionRequestSerializer, responses={201: SessionSerializer}
    )
    @idempotent()
    def post(self, request: Request) -> Response:
        """Create a session. Only the questions that are asked in it are charged."""
        made = sessions.create_session(**parsed(SessionRequestSerializer, request))
        location = f"/v1/sessions/{encode('ses', made.id)}"
        return Response(_body(_session(encode("ses", made.id))), status=201, headers={"Location": location})

    @extend_schema(
        operation_id="listSessions",
        tags=TAGS,
        parameters=[SessionQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("SessionPage", SessionSerializer),
    )
    def get(self, request: Request) -> Response:
        """List sessions, newest first."""
        query, wish = list_query(SessionQuerySerializer, request)
        return page(
            request,
            wish.of(session_queries.sessions(**query)),
            serialize_many=lambda rows: listed(SessionSerializer, [session_queries.view_of(row) for row in rows]),
            order=wish.order,
        )


class SessionView(SteppedTenantView):
    scopes = {"GET": "questions:read", "DELETE": "questions:write"}
    audited = {"DELETE": "session.deleted"}
    stepped = frozenset({"DELETE"})

    @extend_schema(operation_id="getSession", tags=TAGS, responses=SessionSerializer)
    def get(self, request: Request, session_id: str) -> Response:
        """Get a session. `GET /v1/questions?session_id=…` lists its questions."""
        return Response(_body(_session(session_id)))

    @extend_schema(operation_id="deleteSession", tags=TAGS, responses={204: None})
    def delete(self, request: Request, session_id: str) -> Response:
        """Delete a session with its questions and their answers."""
        return deleted(self, Deleted.SESSION, session_id, _session, deletions.drop_session)


routes: list[Any] = [
    path("sessions", SessionsView.as_view()),
    path("sessions/<str:session_id>", SessionView.as_view()),
]
