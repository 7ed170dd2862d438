"""/v1/openapi.json, for anybody."""

from __future__ import annotations

from functools import cache

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer


@cache
def _document() -> bytes:
    # Made once per process: it takes a good part of a second to make, and a request for it needs no key.
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return bytes(OpenApiJsonRenderer().render(schema))


@transaction.non_atomic_requests
@require_safe
def openapi_json(request: HttpRequest) -> HttpResponse:
    """Return the OpenAPI document, the same as frontend_api_schema/openapi.yaml."""
    return HttpResponse(_document(), content_type="application/vnd.oai.openapi+json")
