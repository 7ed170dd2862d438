"""/v1/search and /v1/searches: the events nearest to a query, ranked, without an answer."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import listed, page_of, parsed
from backend.api.idempotency import idempotent
from backend.api.listing import list_query
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.public_ids import decode, encode
from backend.api.views import SteppedTenantView, TenantView, UnboundTenantView
from backend.library.services.deletion_ledger import Deleted
from backend.questions.api.deleting import deleted
from backend.questions.bodies.searches import (
    SearchQuerySerializer,
    SearchRequestSerializer,
    SearchSerializer,
    SearchSummarySerializer,
)
from backend.questions.models import Search
from backend.questions.queries import searches as search_queries
from backend.questions.services import deletions, searches
from backend.questions.waiting import LONGEST_WAIT_SECONDS, waits_for_outcome

TAGS = ["Searches"]
# A search takes a second at most once a worker has it, so a client expects to wait.
DEFAULT_WAIT_SECONDS = 10
POLL_SECONDS = 0.1
PREFER = OpenApiParameter(
    "Prefer",
    str,
    OpenApiParameter.HEADER,
    description=f"`wait=N` waits up to N seconds for the results, at most {LONGEST_WAIT_SECONDS} and by default "
    f"{DEFAULT_WAIT_SECONDS}. `respond-async` does not wait.",
)


def _search(search_id: str) -> Search:
    return TenantView.get_or_404(search_queries.searches(), decode("sea", search_id))


def _body(search: Search) -> dict[str, Any]:
    return SearchSerializer(search_queries.view_of(search)).data


class CreateSearchView(UnboundTenantView):
    scopes = {"POST": "questions:write"}

    @extend_schema(
        operation_id="createSearch",
        tags=TAGS,
        request=SearchRequestSerializer,
        parameters=[PREFER],
        responses={200: SearchSerializer, 202: SearchSerializer},
    )
    @waits_for_outcome(default=DEFAULT_WAIT_SECONDS, every=POLL_SECONDS)
    @idempotent()
    def post(self, request: Request) -> Response:
        """Search for the events nearest to a query.

        The reply is 200 with the results if they are found in time, else 202; `Location` names the search.
        """
        values = parsed(SearchRequestSerializer, request)
        search = searches.create_search(**values, api_key_id=self.principal.api_key_id)
        location = f"/v1/searches/{encode('sea', search.id)}"
        return Response(_body(search), status=202, headers={"Location": location})

    def is_over(self, id: str) -> bool:
        return search_queries.is_over(decode("sea", id))

    def present(self, request: Request, id: str) -> dict[str, Any]:
        return _body(_search(id))


class SearchesView(TenantView):
    scopes = {"GET": "questions:read"}

    @extend_schema(
        operation_id="listSearches",
        tags=TAGS,
        parameters=[SearchQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("SearchPage", SearchSummarySerializer),
    )
    def get(self, request: Request) -> Response:
        """List searches without their results, newest first."""
        query, wish = list_query(SearchQuerySerializer, request)
        return page(
            request,
            wish.of(search_queries.searches(**query)),
            serialize_many=lambda rows: listed(SearchSummarySerializer, search_queries.views_of(rows)),
            order=wish.order,
        )


class SearchView(SteppedTenantView):
    scopes = {"GET": "questions:read", "DELETE": "questions:write"}
    audited = {"DELETE": "search.deleted"}
    stepped = frozenset({"DELETE"})

    @extend_schema(operation_id="getSearch", tags=TAGS, responses=SearchSerializer)
    def get(self, request: Request, search_id: str) -> Response:
        """Get a search with its results as far as there are any."""
        return Response(_body(_search(search_id)))

    @extend_schema(operation_id="deleteSearch", tags=TAGS, responses={204: None})
    def delete(self, request: Request, search_id: str) -> Response:
        """Delete a search with its results. A search without an outcome is canceled."""
        return deleted(self, Deleted.SEARCH, search_id, _search, lambda id: deletions.drop_searches([id]))


routes: list[Any] = [
    path("search", CreateSearchView.as_view()),
    path("searches", SearchesView.as_view()),
    path("searches/<str:search_id>", SearchView.as_view()),
]
