"""/v1/audit-events: the tenant's administrative acts, and what our staff opened."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from django.http import StreamingHttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import page_of, parsed_query
from backend.api.files import AnyFile
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.public_ids import decode
from backend.api.views import TenantView, UnboundTenantView
from backend.audit import queries
from backend.audit.bodies import (
    MEDIA_TYPES,
    AuditEventQuerySerializer,
    AuditEventSerializer,
    AuditExportQuerySerializer,
    audit_event_body,
    lines,
    table,
)

TAGS = ["Audit log"]
SCOPE = "audit:read"


class AuditEventsView(TenantView):
    scopes = {"GET": SCOPE}

    @extend_schema(
        operation_id="listAuditEvents",
        parameters=[AuditEventQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("AuditEventPage", AuditEventSerializer),
        tags=TAGS,
    )
    def get(self, request: Request) -> Response:
        """List the audit log, newest first: administrative acts, and what our staff opened or did.

        Nobody can change or delete an event.
        """
        rows = queries.events(**parsed_query(AuditEventQuerySerializer, request))
        return page(request, rows, serialize=audit_event_body)


class AuditEventView(TenantView):
    scopes = {"GET": SCOPE}

    @extend_schema(operation_id="getAuditEvent", responses=AuditEventSerializer, tags=TAGS)
    def get(self, request: Request, audit_event_id: str) -> Response:
        """Get one event of the audit log."""
        return Response(audit_event_body(self.get_or_404(queries.events(), decode("aud", audit_event_id))))


class AuditExportView(UnboundTenantView):
    scopes = {"GET": SCOPE}
    renderer_classes = (JSONRenderer, AnyFile)

    @extend_schema(
        operation_id="exportAuditEvents",
        parameters=[AuditExportQuerySerializer],
        responses={
            (200, MEDIA_TYPES["jsonl"]): OpenApiResponse(AuditEventSerializer, "One event a line, oldest first."),
            (200, MEDIA_TYPES["csv"]): OpenApiResponse(OpenApiTypes.STR, "The events, oldest first."),
        },
        tags=TAGS,
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Export the audit log as one file, oldest first."""
        wanted = parsed_query(AuditExportQuerySerializer, request)
        kind = wanted.pop("file_type")
        content = _file(self.principal.tenant_id, kind, wanted)
        headers = {"Cache-Control": "no-store", "Content-Disposition": f'attachment; filename="audit-events.{kind}"'}
        return StreamingHttpResponse(content, content_type=MEDIA_TYPES[kind], headers=headers)


def _file(tenant_id: UUID, kind: str, wanted: dict[str, object]) -> Iterator[bytes]:
    if kind == "csv":
        yield table([], head=True)
    for events in queries.exported(tenant_id, **wanted):
        yield table(events, head=False) if kind == "csv" else lines(events)


routes = [
    path("audit-events", AuditEventsView.as_view()),
    path("audit-events/export", AuditExportView.as_view()),
    path("audit-events/<str:audit_event_id>", AuditEventView.as_view()),
]
