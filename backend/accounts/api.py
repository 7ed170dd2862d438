"""/v1/api-keys. The text of a key is in the reply that makes it, and in a replay of that reply for 24 hours."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from django.db import transaction
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.accounts.bodies import (
    TEST,
    AllowedOriginsRequestSerializer,
    AllowedOriginsSerializer,
    ApiKeyRequestSerializer,
    ApiKeyRevocationQuerySerializer,
    ApiKeyRotationRequestSerializer,
    ApiKeySerializer,
    ApiKeyUpdateRequestSerializer,
    ApiKeyWithSecretSerializer,
    MadeThingsSerializer,
    api_key_body,
    api_key_with_secret_body,
    audit_details,
    made_things_body,
)
from backend.accounts.made_things import MadeThings
from backend.api.bodies import page_of, parsed, parsed_query
from backend.api.conditional_views import IF_MATCH, ConditionalView
from backend.api.idempotency import idempotent
from backend.api.listing import ListQuerySerializer, list_query
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.problems import FieldError, Problem
from backend.api.public_ids import decode, encode
from backend.api.views import TenantView
from backend.tenancy import makers, origins, queries, services
from backend.tenancy.models import ApiKey


def _shown_once(made: tuple[ApiKey, str]) -> Response:
    key, text = made
    headers = {"Location": f"/v1/api-keys/{encode('key', key.id)}", "Cache-Control": "no-store"}
    return Response(api_key_with_secret_body(key, text), status=201, headers=headers)


class ApiKeysView(TenantView):
    scopes = {"GET": "keys:read", "POST": "keys:write"}
    audited = {"POST": "api_key.created"}

    @extend_schema(
        operation_id="listApiKeys",
        parameters=[ListQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("ApiKeyPage", ApiKeySerializer),
        tags=["API keys"],
    )
    def get(self, request: Request) -> Response:
        """List API keys, newest first. Revoked and expired keys are in the list."""
        _, wish = list_query(ListQuerySerializer, request)
        return page(request, wish.of(queries.api_keys()), serialize=api_key_body, order=wish.order)

    @extend_schema(
        operation_id="createApiKey",
        request=ApiKeyRequestSerializer,
        responses={201: ApiKeyWithSecretSerializer},
        tags=["API keys"],
    )
    @idempotent(secret=True)
    def post(self, request: Request) -> Response:
        """Create an API key, with no right that the calling key lacks.

        The new key ends with the calling key at the latest, and takes over its limits where it sets none of its own. A
        key of mode `test` sees test objects alone, and live keys see none of them.
        """
        body = parsed(ApiKeyRequestSerializer, request)
        self._require(body["scopes"])
        made = services.issue_api_key(test=body.pop("mode") == TEST, **body, maker=self.principal)
        self.audit_details = audit_details(made[0])
        return _shown_once(made)

    def _require(self, scopes: Collection[str]) -> None:
        beyond = [
            FieldError(f"/scopes/{index}", "insufficient_scope", f"The calling key lacks {scope}.")
            for index, scope in enumerate(scopes)
            if not self.principal.may(scope)
        ]
        if beyond:
            raise Problem(403, "insufficient_scope", "A key cannot give scopes that it lacks.", errors=beyond)


class ApiKeyView(ConditionalView):
    scopes = {"GET": "keys:read", "PATCH": "keys:write", "DELETE": "keys:write"}
    audited = {"PATCH": "api_key.renamed", "DELETE": "api_key.revoked"}
    changed_by = ApiKeyUpdateRequestSerializer

    @extend_schema(operation_id="getApiKey", responses=ApiKeySerializer, tags=["API keys"])
    def get(self, request: Request, key_id: str) -> Response:
        """Return one API key without its text."""
        return Response(api_key_body(self.get_or_404(queries.api_keys(), decode("key", key_id))))

    @extend_schema(
        operation_id="updateApiKey",
        parameters=[IF_MATCH],
        request=ApiKeyUpdateRequestSerializer,
        responses=ApiKeySerializer,
        tags=["API keys"],
    )
    def patch(self, request: Request, key_id: str) -> Response:
        """Rename an API key. Its scopes never change."""
        key = self.get_or_404(queries.api_keys(), decode("key", key_id))
        services.require_rank(self.principal, key.scopes)
        services.rename_api_key(api_key_id=key.id, name=parsed(ApiKeyUpdateRequestSerializer, request)["name"])
        key.refresh_from_db()
        return Response(api_key_body(key))

    @extend_schema(
        operation_id="revokeApiKey",
        parameters=[ApiKeyRevocationQuerySerializer],
        responses={204: None},
        tags=["API keys"],
    )
    def delete(self, request: Request, key_id: str) -> Response:
        """Revoke an API key. The next request with it is refused, and its open streams end.

        A key cannot revoke a key with scopes that it lacks, nor the last key that manages keys. The open invitations
        that the key made end. Webhook endpoints and shares go on unless you send `end_made`;
        `GET /v1/api-keys/{key_id}/made` lists them.
        """
        key = self.get_or_404(queries.api_keys(), decode("key", key_id))
        wanted = parsed_query(ApiKeyRevocationQuerySerializer, request)
        maker = makers.key(key.id, descendants=wanted["descendants"])
        with transaction.atomic():
            made = MadeThings.divided(makers.made_by(maker), all_end=wanted["end_made"])
            if wanted["end_made"]:
                makers.end_rest(maker, by=self.principal)
            ended = services.revoke_api_key(api_key_id=key.id, descendants=wanted["descendants"], by=self.principal)
        self.audit_details = {"keys_ended": ended, "descendants": wanted["descendants"], **made.details}
        return Response(status=204)


class MadeByKeyView(TenantView):
    scopes = {"GET": "keys:read"}

    @extend_schema(operation_id="listMadeByApiKey", responses=MadeThingsSerializer, tags=["API keys"])
    def get(self, request: Request, key_id: str) -> Response:
        """List what acts for an API key: keys, open invitations, webhook endpoints and shares that have not ended.

        At most 1,000 of each kind, the newest first, with those of the keys that it made.
        """
        key = self.get_or_404(queries.api_keys(), decode("key", key_id))
        maker = makers.key(key.id, descendants=True)
        return Response(made_things_body([*makers.keys_made_by(maker), *makers.made_by(maker)]))


class ApiKeyRotationView(TenantView):
    scopes = {"POST": "keys:write"}
    audited = {"POST": "api_key.rotated"}

    @extend_schema(
        operation_id="rotateApiKey",
        request=ApiKeyRotationRequestSerializer,
        responses={201: ApiKeyWithSecretSerializer},
        tags=["API keys"],
    )
    @idempotent(secret=True)
    def post(self, request: Request, key_id: str) -> Response:
        """Create a successor of an API key with the same name and scopes. The old key ends after the overlap.

        The successor ends with the calling key at the latest.
        """
        key = self.get_or_404(queries.api_keys(), decode("key", key_id))
        body = parsed(ApiKeyRotationRequestSerializer, request)
        if not all(self.principal.may(scope) for scope in key.scopes):
            # The successor would be a key with more rights than its maker has.
            raise Problem(403, "insufficient_scope", "This key has scopes that the calling key lacks.")
        overlap = timedelta(seconds=body["overlap_seconds"])
        made = services.rotate_api_key(api_key_id=key.id, overlap=overlap, maker=self.principal)
        self.audit_details = {**audit_details(made[0]), "successor": encode("key", made[0].id)}
        return _shown_once(made)


class AllowedOriginsView(ConditionalView):
    scopes = {"GET": "keys:write", "PUT": "keys:write"}
    audited = {"PUT": "allowed_origins.updated"}
    changed_by = AllowedOriginsRequestSerializer

    @extend_schema(operation_id="getAllowedOrigins", responses=AllowedOriginsSerializer, tags=["API keys"])
    def get(self, request: Request) -> Response:
        """Return the origins of web pages that may use your keys (CORS), and of those that may show your shares."""
        return Response(AllowedOriginsSerializer(origins.origins()).data)

    @extend_schema(
        operation_id="updateAllowedOrigins",
        parameters=[IF_MATCH],
        request=AllowedOriginsRequestSerializer,
        responses=AllowedOriginsSerializer,
        tags=["API keys"],
    )
    def put(self, request: Request) -> Response:
        """Replace these origins. A key in a page can be read by whoever opens the page: give it few scopes."""
        listed = parsed(AllowedOriginsRequestSerializer, request)
        self.audit_details = listed
        stored = origins.set_origins(listed["origins"], listed.get("embed_origins"))
        return Response(AllowedOriginsSerializer(stored).data)


routes = [
    path("allowed-origins", AllowedOriginsView.as_view()),
    path("api-keys", ApiKeysView.as_view()),
    path("api-keys/<str:key_id>", ApiKeyView.as_view()),
    path("api-keys/<str:key_id>/made", MadeByKeyView.as_view()),
    path("api-keys/<str:key_id>/rotate", ApiKeyRotationView.as_view()),
]
