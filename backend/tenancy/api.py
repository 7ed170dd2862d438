"""/v1/api-keys. The text of a key is in the answer that makes it, and in a replay of that answer for 24 hours."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import Body, page_of, parsed
from backend.api.idempotency import idempotent
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.problems import FieldError, Problem
from backend.api.public_ids import PublicIdField, decode, encode
from backend.api.views import TenantView
from backend.tenancy import keys, queries, services
from backend.tenancy.models import ApiKey

SCOPE_CHOICES = (*keys.SCOPES, keys.ALL_SCOPES)
MAX_OVERLAP_SECONDS = 7 * 86_400


class ApiKeyRequest(Body):
    name = serializers.CharField(max_length=100)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(SCOPE_CHOICES), min_length=1, max_length=len(SCOPE_CHOICES)
    )
    expires_at = serializers.DateTimeField(required=False, allow_null=True)

    def validate_expires_at(self, value: Any) -> Any:
        if value is not None and value <= timezone.now():
            raise serializers.ValidationError("This is in the past.", code="in_the_past")
        return value


class ApiKeyChange(Body):
    name = serializers.CharField(max_length=100)


class RotationRequest(Body):
    overlap_seconds = serializers.IntegerField(
        min_value=0, max_value=MAX_OVERLAP_SECONDS, default=86_400, help_text="how long the old key keeps working"
    )


class ApiKeyBody(serializers.Serializer[Any]):
    id = PublicIdField("key")
    object = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    hint = serializers.CharField(help_text="how the key begins, to recognise it by")
    scopes = serializers.ListField(child=serializers.ChoiceField(SCOPE_CHOICES))
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True, help_text="to the minute")


class NewApiKeyBody(ApiKeyBody):
    key = serializers.CharField(help_text="the key itself; it cannot be read again")


def _fields(key: ApiKey) -> dict[str, Any]:
    names = ("id", "name", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at")
    return {
        "object": "api_key",
        "hint": f"{keys.PREFIX}{key.public_id}",
        **{name: getattr(key, name) for name in names},
    }


def key_body(key: ApiKey) -> dict[str, Any]:
    return ApiKeyBody(_fields(key)).data


def _shown_once(made: tuple[ApiKey, str]) -> Response:
    key, text = made
    headers = {"Location": f"/v1/api-keys/{encode('key', key.id)}", "Cache-Control": "no-store"}
    return Response(NewApiKeyBody({**_fields(key), "key": text}).data, status=201, headers=headers)


class ApiKeysView(TenantView):
    scopes = {"GET": "keys:write", "POST": "keys:write"}

    @extend_schema(
        operation_id="listApiKeys",
        parameters=PAGE_PARAMETERS,
        responses=page_of("ApiKeyPage", ApiKeyBody),
        tags=["API keys"],
    )
    def get(self, request: Request) -> Response:
        """Keys, newest first, ended ones among them."""
        return page(request, queries.api_keys(), serialize=key_body)

    @extend_schema(
        operation_id="createApiKey", request=ApiKeyRequest, responses={201: NewApiKeyBody}, tags=["API keys"]
    )
    @idempotent(secret=True)
    def post(self, request: Request) -> Response:
        """A new key, with no scope that the calling key lacks."""
        body = parsed(ApiKeyRequest, request)
        self._require(body["scopes"])
        made = services.issue_api_key(name=body["name"], scopes=body["scopes"], expires_at=body.get("expires_at"))
        return _shown_once(made)

    def _require(self, scopes: Collection[str]) -> None:
        beyond = [
            FieldError(f"/scopes/{index}", "insufficient_scope", f"The calling key lacks {scope}.")
            for index, scope in enumerate(scopes)
            if not self.principal.may(scope)
        ]
        if beyond:
            raise Problem(403, "insufficient_scope", "A key cannot give what it does not have.", errors=beyond)


class ApiKeyView(TenantView):
    scopes = {"GET": "keys:write", "PATCH": "keys:write", "DELETE": "keys:write"}

    @extend_schema(operation_id="getApiKey", responses=ApiKeyBody, tags=["API keys"])
    def get(self, request: Request, key_id: str) -> Response:
        """A key without its secret."""
        return Response(key_body(self.get_or_404(queries.api_keys(), decode("key", key_id))))

    @extend_schema(operation_id="renameApiKey", request=ApiKeyChange, responses=ApiKeyBody, tags=["API keys"])
    def patch(self, request: Request, key_id: str) -> Response:
        """Rename a key; its scopes never change."""
        key = self.get_or_404(queries.api_keys(), decode("key", key_id))
        services.rename_api_key(api_key_id=key.id, name=parsed(ApiKeyChange, request)["name"])
        key.refresh_from_db()
        return Response(key_body(key))

    @extend_schema(operation_id="revokeApiKey", responses={204: None}, tags=["API keys"])
    def delete(self, request: Request, key_id: str) -> Response:
        """Revoke a key: from the next request on it is refused. A key may revoke itself."""
        key = self.get_or_404(queries.api_keys(), decode("key", key_id))
        services.revoke_api_key(api_key_id=key.id)
        return Response(status=204)


class RotationView(TenantView):
    scopes = {"POST": "keys:write"}

    @extend_schema(
        operation_id="rotateApiKey", request=RotationRequest, responses={201: NewApiKeyBody}, tags=["API keys"]
    )
    @idempotent(secret=True)
    def post(self, request: Request, key_id: str) -> Response:
        """A successor with the same name and scopes; the old key works for the overlap and then ends."""
        key = self.get_or_404(queries.api_keys(), decode("key", key_id))
        body = parsed(RotationRequest, request)
        if not all(self.principal.may(scope) for scope in key.scopes):
            # The successor would be a key with more rights than its maker has.
            raise Problem(403, "insufficient_scope", "This key has scopes that the calling key lacks.")
        made = services.rotate_api_key(api_key_id=key.id, overlap=timedelta(seconds=body["overlap_seconds"]))
        return _shown_once(made)


routes = [
    path("api-keys", ApiKeysView.as_view()),
    path("api-keys/<str:key_id>", ApiKeyView.as_view()),
    path("api-keys/<str:key_id>/rotate", RotationView.as_view()),
]
