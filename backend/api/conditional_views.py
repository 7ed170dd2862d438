"""Optimistic concurrency for what has no version of its own: an ETag of the values that a request can change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.db import connection
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from backend.api.etags import expected_tag, state_of
from backend.api.views import TenantView

IF_MATCH = OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, description="The ETag that you have read.")
_CHANGES = frozenset({"PATCH", "PUT"})


def change_alone(thing: str) -> None:
    """Let no other request change a thing until the end of the transaction. thing: names it and its tenant."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [thing])


class ConditionalView(TenantView):
    """A view of one thing that GET returns, and PATCH or PUT changes and returns.

    changed_by: the body of that change. The state in the ETag is a hash of its fields in the reply, so it stays while
    anything else changes, such as a counter. Changes of one thing wait for each other; of two that name the same ETag
    one gets 412.
    """

    changed_by: ClassVar[type[Serializer[Any]]]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method not in _CHANGES:
            return
        change_alone(f"{self.principal.tenant_id} {request.path}")
        if "If-Match" in request.headers:
            expected_tag(request, current=self._tag(self.get(request, *args, **kwargs).data))

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        raise NotImplementedError

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        final = super().finalize_response(request, response, *args, **kwargs)
        if final.status_code == 200 and request.method in {"GET", *_CHANGES}:
            final.headers["ETag"] = self._tag(response.data)
        return final

    def _tag(self, shown: Mapping[str, Any]) -> str:
        return state_of({name: shown[name] for name in map(str, self.changed_by().fields) if name in shown})
