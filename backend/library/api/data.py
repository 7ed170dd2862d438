"""/v1/storage and /v1/retention: how much a tenant keeps, and for how long."""

from __future__ import annotations

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import parsed
from backend.api.conditional_views import IF_MATCH, ConditionalView
from backend.api.views import TenantView
from backend.library.bodies.data import (
    RetentionSerializer,
    RetentionUpdateRequestSerializer,
    StorageSerializer,
    retention_body,
    storage_body,
)
from backend.library.services.retention import retention, set_retention
from backend.library.services.storage_quota import storage_use

TAGS = ["Data"]


class StorageView(TenantView):
    scopes = {"GET": "videos:read"}

    @extend_schema(operation_id="getStorage", responses=StorageSerializer, tags=TAGS)
    def get(self, request: Request) -> Response:
        """Get how many bytes are stored and reserved, and the quota."""
        return Response(storage_body(storage_use()))


class RetentionView(ConditionalView):
    scopes = {"GET": "videos:read", "PATCH": "retention:write"}
    audited = {"PATCH": "retention.changed"}
    changed_by = RetentionUpdateRequestSerializer

    @extend_schema(operation_id="getRetention", responses=RetentionSerializer, tags=TAGS)
    def get(self, request: Request) -> Response:
        """Get how long recordings, pictures, indexes and questions are kept."""
        return Response(retention_body(retention()))

    @extend_schema(
        operation_id="updateRetention",
        parameters=[IF_MATCH],
        request=RetentionUpdateRequestSerializer,
        responses=RetentionSerializer,
        tags=TAGS,
    )
    def patch(self, request: Request) -> Response:
        """Change how long data is kept.

        What is older is deleted within two hours, and cannot be brought back.
        """
        return Response(retention_body(set_retention(**parsed(RetentionUpdateRequestSerializer, request))))


routes = [
    path("storage", StorageView.as_view()),
    path("retention", RetentionView.as_view()),
]
