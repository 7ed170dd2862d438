"""/v1/webhook-endpoints, /v1/webhook-deliveries, /v1/webhook-event-types."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api import public_ids
from backend.api.bodies import Body, page_of, parsed
from backend.api.idempotency import idempotent
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.views import TenantView
from backend.tenancy.refusals import invalid
from backend.webhooks import payloads, queries, services
from backend.webhooks.models import Attempt, Delivery, DeliveryState, Endpoint

SCOPE = "webhooks:write"


class EndpointSerializer(serializers.ModelSerializer[Endpoint]):
    id = public_ids.PublicIdField("whe", read_only=True)
    object = serializers.CharField(default="webhook_endpoint", read_only=True)

    class Meta:
        model = Endpoint
        fields = ("id", "object", "url", "description", "event_types", "state", "dead_deliveries", "created_at")
        read_only_fields = ("state", "dead_deliveries", "created_at")


class NewEndpointSerializer(Body):
    url = serializers.CharField(max_length=2_000)
    description = serializers.CharField(max_length=200, required=False, allow_blank=True)
    event_types = serializers.ListField(
        child=serializers.CharField(max_length=64), required=False, help_text="Empty for all types."
    )


class ChangedEndpointSerializer(NewEndpointSerializer):
    url = serializers.CharField(max_length=2_000, required=False)
    enabled = serializers.BooleanField(required=False)


class EndpointWithSecretSerializer(EndpointSerializer):
    secret = serializers.CharField(read_only=True, help_text="whsec_…")

    class Meta(EndpointSerializer.Meta):
        fields = (*EndpointSerializer.Meta.fields, "secret")  # type: ignore[assignment]


class RotationSerializer(Body):
    force = serializers.BooleanField(
        default=False,
        help_text="Rotate although the previous secret is still valid, for example because a secret has leaked. "
        "The previous secret ends at once.",
    )


class SecretSerializer(serializers.Serializer[Any]):
    secret = serializers.CharField()
    previous_secret_until = serializers.DateTimeField(allow_null=True)


class DeliverySerializer(serializers.ModelSerializer[Delivery]):
    id = public_ids.PublicIdField("whd", read_only=True)
    object = serializers.CharField(default="webhook_delivery", read_only=True)
    endpoint_id = public_ids.PublicIdField("whe", read_only=True)
    event_id = public_ids.PublicIdField("msg", read_only=True)
    event_type = serializers.CharField(source="event.type", read_only=True)
    resource_id = serializers.SerializerMethodField(help_text="Of what the event is about, such as a video.")

    def get_resource_id(self, delivery: Delivery) -> str:
        return str(json.loads(delivery.event.body)["data"]["id"])

    class Meta:
        model = Delivery
        fields = (
            "id", "object", "endpoint_id", "event_id", "event_type", "resource_id", "state", "attempts",
            "next_attempt_at", "created_at", "completed_at",
        )  # fmt: skip


class AttemptSerializer(serializers.ModelSerializer[Attempt]):
    class Meta:
        model = Attempt
        fields = ("n", "status_code", "error_code", "response_excerpt", "latency_ms", "attempted_at")


class EventTypeSerializer(serializers.Serializer[Any]):
    type = serializers.CharField()
    description = serializers.CharField()


def _endpoint(endpoint_id: str) -> Endpoint:
    return TenantView.get_or_404(queries.endpoints(), public_ids.decode("whe", endpoint_id))


def _delivery(delivery_id: str) -> Delivery:
    return TenantView.get_or_404(queries.deliveries(), public_ids.decode("whd", delivery_id))


class EndpointsView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": SCOPE, "POST": SCOPE}

    @extend_schema(
        operation_id="webhook_endpoints_list",
        parameters=PAGE_PARAMETERS,
        responses=page_of("WebhookEndpointPage", EndpointSerializer),
    )
    def get(self, request: Request) -> Response:
        return page(request, queries.endpoints(), serialize=lambda row: EndpointSerializer(row).data)

    @extend_schema(
        operation_id="webhook_endpoints_create",
        request=NewEndpointSerializer,
        responses={201: EndpointWithSecretSerializer},
    )
    @idempotent(secret=True)
    def post(self, request: Request) -> Response:
        """Create a webhook endpoint. The reply carries its signing secret."""
        endpoint, secret = services.create_endpoint(**parsed(NewEndpointSerializer, request))
        location = f"/v1/webhook-endpoints/{public_ids.encode('whe', endpoint.id)}"
        return Response(
            {**EndpointSerializer(endpoint).data, "secret": secret},
            status=201,
            headers={"Location": location, "Cache-Control": "no-store"},
        )


class EndpointDetailView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": SCOPE, "PATCH": SCOPE, "DELETE": SCOPE}

    @extend_schema(operation_id="webhook_endpoints_get", responses=EndpointSerializer)
    def get(self, request: Request, endpoint_id: str) -> Response:
        return Response(EndpointSerializer(_endpoint(endpoint_id)).data)

    @extend_schema(
        operation_id="webhook_endpoints_update", request=ChangedEndpointSerializer, responses=EndpointSerializer
    )
    def patch(self, request: Request, endpoint_id: str) -> Response:
        """Change an endpoint; `enabled` switches it on or off."""
        endpoint = _endpoint(endpoint_id)
        changes = parsed(ChangedEndpointSerializer, request)
        return Response(EndpointSerializer(services.update_endpoint(endpoint=endpoint, **changes)).data)

    @extend_schema(operation_id="webhook_endpoints_delete", responses={204: None})
    def delete(self, request: Request, endpoint_id: str) -> Response:
        services.delete_endpoint(endpoint=_endpoint(endpoint_id))
        return Response(status=204)


class EndpointSecretView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": SCOPE}

    @extend_schema(operation_id="webhook_endpoints_secret", responses=SecretSerializer)
    def get(self, request: Request, endpoint_id: str) -> Response:
        """The current signing secret."""
        endpoint = _endpoint(endpoint_id)
        return _secret(endpoint, services.current_secret(endpoint))


class RotateSecretView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"POST": SCOPE}

    @extend_schema(
        operation_id="webhook_endpoints_rotate_secret", request=RotationSerializer, responses=SecretSerializer
    )
    @idempotent(secret=True)
    def post(self, request: Request, endpoint_id: str) -> Response:
        """Make a new signing secret. For 24 hours requests are signed with the old secret too."""
        endpoint = services.rotate_secret(endpoint=_endpoint(endpoint_id), **parsed(RotationSerializer, request))
        return _secret(endpoint, services.current_secret(endpoint))


def _secret(endpoint: Endpoint, secret: str) -> Response:
    body = {"secret": secret, "previous_secret_until": endpoint.previous_secret_until}
    return Response(body, headers={"Cache-Control": "no-store"})


class TestEndpointView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"POST": SCOPE}

    @extend_schema(operation_id="webhook_endpoints_test", request=None, responses={202: DeliverySerializer})
    @idempotent()
    def post(self, request: Request, endpoint_id: str) -> Response:
        """Send webhook.test to this endpoint."""
        return Response(DeliverySerializer(services.send_test(endpoint=_endpoint(endpoint_id))).data, status=202)


class DeliveriesView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": SCOPE}

    @extend_schema(
        operation_id="webhook_deliveries_list",
        parameters=[
            OpenApiParameter("endpoint_id", str),
            OpenApiParameter("state", str, enum=DeliveryState.values),
            OpenApiParameter("event_type", str, enum=list(payloads.EVENT_TYPES)),
            *PAGE_PARAMETERS,
        ],
        responses=page_of("WebhookDeliveryPage", DeliverySerializer),
    )
    def get(self, request: Request) -> Response:
        query = request.query_params
        state = query.get("state", "")
        if state and state not in DeliveryState.values:
            raise invalid(
                pointer="/state", code="unknown_state", detail=f"state is one of {', '.join(DeliveryState.values)}."
            )
        endpoint_id = public_ids.decode("whe", query["endpoint_id"]) if "endpoint_id" in query else None
        rows = queries.deliveries(endpoint_id=endpoint_id, state=state, event_type=query.get("event_type", ""))
        return page(request, rows, serialize=lambda row: DeliverySerializer(row).data)


class DeliveryDetailView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": SCOPE}

    @extend_schema(operation_id="webhook_deliveries_get", responses=DeliverySerializer)
    def get(self, request: Request, delivery_id: str) -> Response:
        return Response(DeliverySerializer(_delivery(delivery_id)).data)


class AttemptsView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": SCOPE}

    @extend_schema(
        operation_id="webhook_deliveries_attempts",
        parameters=PAGE_PARAMETERS,
        responses=page_of("WebhookAttemptPage", AttemptSerializer),
    )
    def get(self, request: Request, delivery_id: str) -> Response:
        """What each attempt met, newest first."""
        rows = queries.attempts(_delivery(delivery_id).id)
        return page(request, rows, serialize=lambda row: AttemptSerializer(row).data)


class ReplayView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"POST": SCOPE}

    @extend_schema(operation_id="webhook_deliveries_replay", request=None, responses={202: DeliverySerializer})
    @idempotent()
    def post(self, request: Request, delivery_id: str) -> Response:
        """Send a delivery again, with the same webhook-id and body."""
        return Response(DeliverySerializer(services.replay(delivery=_delivery(delivery_id))).data, status=202)


class EventTypesView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": SCOPE}

    @extend_schema(
        operation_id="webhook_event_types_list", responses=page_of("WebhookEventTypePage", EventTypeSerializer)
    )
    def get(self, request: Request) -> Response:
        types = [{"type": name, "description": words} for name, words in payloads.EVENT_TYPES.items()]
        return Response({"data": types, "next_cursor": None})


routes: list[Any] = [
    path("webhook-event-types", EventTypesView.as_view(), name="webhook-event-types"),
    path("webhook-endpoints", EndpointsView.as_view(), name="webhook-endpoints"),
    path("webhook-endpoints/<str:endpoint_id>", EndpointDetailView.as_view(), name="webhook-endpoint"),
    path("webhook-endpoints/<str:endpoint_id>/secret", EndpointSecretView.as_view(), name="webhook-endpoint-secret"),
    path(
        "webhook-endpoints/<str:endpoint_id>/rotate-secret",
        RotateSecretView.as_view(),
        name="webhook-endpoint-rotate-secret",
    ),
    path("webhook-endpoints/<str:endpoint_id>/test", TestEndpointView.as_view(), name="webhook-endpoint-test"),
    path("webhook-deliveries", DeliveriesView.as_view(), name="webhook-deliveries"),
    path("webhook-deliveries/<str:delivery_id>", DeliveryDetailView.as_view(), name="webhook-delivery"),
    path("webhook-deliveries/<str:delivery_id>/attempts", AttemptsView.as_view(), name="webhook-delivery-attempts"),
    path("webhook-deliveries/<str:delivery_id>/replay", ReplayView.as_view(), name="webhook-delivery-replay"),
]
