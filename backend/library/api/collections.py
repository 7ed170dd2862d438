"""/v1/collections."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import page_of, parsed
from backend.api.conditional_views import IF_MATCH, ConditionalView
from backend.api.idempotency import idempotent
from backend.api.listing import ListQuerySerializer, list_query
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.public_ids import decode, encode
from backend.api.views import TenantView
from backend.library import queries
from backend.library.bodies.collections import (
    CollectionRequestSerializer,
    CollectionSerializer,
    CollectionUpdateRequestSerializer,
    collection_body,
)
from backend.library.models import Collection
from backend.library.services import collections as collection_services
from backend.tenancy.refusals import invalid


def collection_of(collection_id: UUID) -> Collection:
    """Return the collection that a body names. Raises Refused (400) if there is none."""
    collection = queries.collections().filter(id=collection_id).first()
    if collection is None:
        raise invalid(pointer="/collection_id", code="not_found", detail="There is no such collection.")
    return collection


def use_collection(fields: dict[str, Any]) -> None:
    """Give the fields of a new video the profile of their collection, if they name one and no profile."""
    if fields.get("collection_id") is not None:
        fields.setdefault("profile", collection_of(fields["collection_id"]).profile)


class CollectionsView(TenantView):
    scopes = {"GET": "videos:read", "POST": "videos:write"}
    audited = {"POST": "collection.created"}

    @extend_schema(
        operation_id="listCollections",
        parameters=[ListQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("CollectionPage", CollectionSerializer),
        tags=["Collections"],
    )
    def get(self, request: Request) -> Response:
        """List collections, newest first."""
        _, wish = list_query(ListQuerySerializer, request)
        return page(request, wish.of(queries.collections()), serialize=collection_body, order=wish.order)

    @extend_schema(
        operation_id="createCollection",
        request=CollectionRequestSerializer,
        responses={201: CollectionSerializer},
        tags=["Collections"],
    )
    @idempotent()
    def post(self, request: Request) -> Response:
        """Create a collection: a folder of videos with a common profile and instructions."""
        collection = collection_services.create_collection(fields=parsed(CollectionRequestSerializer, request))
        self.audit_details = {"name": collection.name}
        location = {"Location": f"/v1/collections/{encode('col', collection.id)}"}
        return Response(collection_body(collection), status=201, headers=location)


class CollectionView(ConditionalView):
    scopes = {"GET": "videos:read", "PATCH": "videos:write", "DELETE": "videos:write"}
    audited = {"PATCH": "collection.updated", "DELETE": "collection.deleted"}
    changed_by = CollectionUpdateRequestSerializer

    def _collection(self, collection_id: str) -> Collection:
        return self.get_or_404(queries.collections(), decode("col", collection_id))

    @extend_schema(operation_id="getCollection", responses=CollectionSerializer, tags=["Collections"])
    def get(self, request: Request, collection_id: str) -> Response:
        """Return one collection. GET /v1/videos?collection_id=… lists its videos."""
        return Response(collection_body(self._collection(collection_id)))

    @extend_schema(
        operation_id="updateCollection",
        parameters=[IF_MATCH],
        request=CollectionUpdateRequestSerializer,
        responses=CollectionSerializer,
        tags=["Collections"],
    )
    def patch(self, request: Request, collection_id: str) -> Response:
        """Change a collection. Videos that are already indexed keep their index."""
        collection = self._collection(collection_id)
        fields = parsed(CollectionUpdateRequestSerializer, request)
        self.audit_details = {"fields": sorted(fields)}
        return Response(collection_body(collection_services.update_collection(collection=collection, fields=fields)))

    @extend_schema(operation_id="deleteCollection", responses={204: None}, tags=["Collections"])
    def delete(self, request: Request, collection_id: str) -> Response:
        """Delete a collection. Its videos stay, without a collection."""
        collection = self._collection(collection_id)
        collection_services.delete_collection(collection=collection)
        self.audit_details = {"name": collection.name}
        return Response(status=204)


routes = [
    path("collections", CollectionsView.as_view()),
    path("collections/<str:collection_id>", CollectionView.as_view()),
]
