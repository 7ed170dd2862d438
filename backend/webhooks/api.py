"""/v1/webhook-endpoints, /v1/webhook-deliveries, /v1/webhook-event-types, /v1/webhook-events."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api import public_ids
from backend.api.bodies import page_of, parsed
from backend.api.conditional_views import IF_MATCH, ConditionalView
from backend.api.idempotency import idempotent
from backend.api.listing import ListQuerySerializer, list_query
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.views import TenantView
from backend.tenancy.authentication import Principal
from backend.tenancy.context import current_tenant_id
from backend.tenancy.models import Tenant
from backend.tenancy.services import set_notice_roles
from backend.webhooks import named_addresses, queries, recovery, services
from backend.webhooks.bodies import (
    NoticeAddressRequestSerializer,
    NoticeAddressSerializer,
    WebhookAttemptSerializer,
    WebhookDeliveryQuerySerializer,
    WebhookDeliverySerializer,
    WebhookEndpointRequestSerializer,
    WebhookEndpointSerializer,
    WebhookEndpointUpdateRequestSerializer,
    WebhookEndpointWithSecretSerializer,
    WebhookEventQuerySerializer,
    WebhookEventSerializer,
    WebhookEventTypeSerializer,
    WebhookReplayRequestSerializer,
    WebhookReplaySerializer,
    WebhookSecretRotationRequestSerializer,
    WebhookSecretSerializer,
    attempt_body,
    delivery_body,
    endpoint_body,
    endpoint_with_secret_body,
    event_body,
    event_type_bodies,
    replay_body,
    secret_body,
)
from backend.webhooks.models import Delivery, Endpoint, WebhookEvent

SCOPE = "webhooks:write"
TAGS = ["Webhooks"]


def _endpoint(endpoint_id: str) -> Endpoint:
    return TenantView.get_or_404(queries.endpoints(), public_ids.decode("whe", endpoint_id))


def _delivery(delivery_id: str) -> Delivery:
    return TenantView.get_or_404(queries.deliveries(), public_ids.decode("whd", delivery_id))


class EndpointsView(TenantView):
    scopes = {"GET": SCOPE, "POST": SCOPE}
    audited = {"POST": "webhook_endpoint.created"}

    @extend_schema(
        operation_id="listWebhookEndpoints",
        parameters=[ListQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("WebhookEndpointPage", WebhookEndpointSerializer),
        tags=TAGS,
    )
    def get(self, request: Request) -> Response:
        """List webhook endpoints, newest first."""
        _, wish = list_query(ListQuerySerializer, request)
        return page(request, wish.of(queries.endpoints()), serialize=endpoint_body, order=wish.order)

    @extend_schema(
        operation_id="createWebhookEndpoint",
        request=WebhookEndpointRequestSerializer,
        responses={201: WebhookEndpointWithSecretSerializer},
        tags=TAGS,
    )
    @idempotent(secret=True)
    def post(self, request: Request) -> Response:
        """Create a webhook endpoint. The reply carries its signing secret, which cannot be read again."""
        endpoint, secret = services.create_endpoint(**parsed(WebhookEndpointRequestSerializer, request))
        location = f"/v1/webhook-endpoints/{public_ids.encode('whe', endpoint.id)}"
        return Response(
            endpoint_with_secret_body(endpoint, secret),
            status=201,
            headers={"Location": location, "Cache-Control": "no-store"},
        )


class EndpointView(ConditionalView):
    scopes = {"GET": SCOPE, "PATCH": SCOPE, "DELETE": SCOPE}
    audited = {"PATCH": "webhook_endpoint.updated", "DELETE": "webhook_endpoint.deleted"}
    changed_by = WebhookEndpointUpdateRequestSerializer

    @extend_schema(operation_id="getWebhookEndpoint", responses=WebhookEndpointSerializer, tags=TAGS)
    def get(self, request: Request, endpoint_id: str) -> Response:
        """Return one webhook endpoint without its secret."""
        return Response(endpoint_body(_endpoint(endpoint_id)))

    @extend_schema(
        operation_id="updateWebhookEndpoint",
        parameters=[IF_MATCH],
        request=WebhookEndpointUpdateRequestSerializer,
        responses=WebhookEndpointSerializer,
        tags=TAGS,
    )
    def patch(self, request: Request, endpoint_id: str) -> Response:
        """Change a webhook endpoint, or switch it on or off."""
        endpoint = _endpoint(endpoint_id)
        changes = parsed(WebhookEndpointUpdateRequestSerializer, request)
        return Response(endpoint_body(services.update_endpoint(endpoint=endpoint, **changes)))

    @extend_schema(operation_id="deleteWebhookEndpoint", responses={204: None}, tags=TAGS)
    def delete(self, request: Request, endpoint_id: str) -> Response:
        """Delete a webhook endpoint with its deliveries."""
        services.delete_endpoint(endpoint=_endpoint(endpoint_id))
        return Response(status=204)


class RotateSecretView(TenantView):
    scopes = {"POST": SCOPE}
    audited = {"POST": "webhook_endpoint.secret_rotated"}

    @extend_schema(
        operation_id="rotateWebhookSecret",
        request=WebhookSecretRotationRequestSerializer,
        responses=WebhookSecretSerializer,
        tags=TAGS,
    )
    @idempotent(secret=True)
    def post(self, request: Request, endpoint_id: str) -> Response:
        """Make a new signing secret, which cannot be read again.

        For 24 hours requests carry a signature of the previous secret too. A second rotation within this time is
        refused (`rotation_in_overlap`), unless you send `force`.
        """
        options = parsed(WebhookSecretRotationRequestSerializer, request)
        endpoint = services.rotate_secret(endpoint=_endpoint(endpoint_id), **options)
        body = secret_body(endpoint, services.current_secret(endpoint))
        return Response(body, headers={"Cache-Control": "no-store"})


class TestEndpointView(TenantView):
    scopes = {"POST": SCOPE}
    audited = {"POST": "webhook_endpoint.tested"}

    @extend_schema(
        operation_id="testWebhookEndpoint", request=None, responses={202: WebhookDeliverySerializer}, tags=TAGS
    )
    @idempotent()
    def post(self, request: Request, endpoint_id: str) -> Response:
        """Send the event `webhook.test` to one webhook endpoint."""
        return Response(delivery_body(services.send_test(endpoint=_endpoint(endpoint_id))), status=202)


class EndpointReplayView(TenantView):
    scopes = {"POST": SCOPE}
    audited = {"POST": "webhook_endpoint.replayed"}

    @extend_schema(
        operation_id="replayWebhookEndpoint",
        request=WebhookReplayRequestSerializer,
        responses={202: WebhookReplaySerializer},
        tags=TAGS,
    )
    @idempotent()
    def post(self, request: Request, endpoint_id: str) -> Response:
        """Send one webhook endpoint the events since a time that it has not received, oldest first.

        Deliveries that failed for good start again, with their `webhook-id` and body. Events that happened while the
        endpoint was disabled are sent too. One request looks at 1,000 events at most; `next_since` continues. Events
        are sent again for as long as deliveries are kept: 30 days by default.
        """
        endpoint = _endpoint(endpoint_id)
        options = parsed(WebhookReplayRequestSerializer, request)
        return Response(replay_body(recovery.replay_since(endpoint=endpoint, **options)), status=202)


def _shown(event: WebhookEvent, caller: Principal) -> dict[str, Any]:
    return event_body(event, answers=caller.may("questions:read"))


class EventsView(TenantView):
    scopes = {"GET": SCOPE}

    @extend_schema(
        operation_id="listWebhookEvents",
        parameters=[WebhookEventQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("WebhookEventPage", WebhookEventSerializer),
        tags=TAGS,
    )
    def get(self, request: Request) -> Response:
        """List what has happened, newest first, whether you have webhook endpoints or not.

        With `sort=created_at` and the cursor of the last page you read on where you stopped. An event without pending
        deliveries is kept for 30 days by default; the last event of each type of a resource stays. Answers are empty
        without the scope `questions:read`.
        """
        query, wish = list_query(WebhookEventQuerySerializer, request)
        rows = wish.of(queries.events(**query))
        return page(request, rows, serialize=lambda event: _shown(event, self.principal), order=wish.order)


class EventView(TenantView):
    scopes = {"GET": SCOPE}

    @extend_schema(operation_id="getWebhookEvent", responses=WebhookEventSerializer, tags=TAGS)
    def get(self, request: Request, webhook_event_id: str) -> Response:
        """Return one event with the values that your webhook endpoints get.

        The answer is empty without the scope `questions:read`.
        """
        event = self.get_or_404(queries.events(), public_ids.decode("msg", webhook_event_id))
        return Response(_shown(event, self.principal))


class DeliveriesView(TenantView):
    scopes = {"GET": SCOPE}

    @extend_schema(
        operation_id="listWebhookDeliveries",
        parameters=[WebhookDeliveryQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("WebhookDeliveryPage", WebhookDeliverySerializer),
        tags=TAGS,
    )
    def get(self, request: Request) -> Response:
        """List webhook deliveries, newest first."""
        query, wish = list_query(WebhookDeliveryQuerySerializer, request)
        return page(request, wish.of(queries.deliveries(**query)), serialize=delivery_body, order=wish.order)


class DeliveryView(TenantView):
    scopes = {"GET": SCOPE}

    @extend_schema(operation_id="getWebhookDelivery", responses=WebhookDeliverySerializer, tags=TAGS)
    def get(self, request: Request, delivery_id: str) -> Response:
        """Return one webhook delivery."""
        return Response(delivery_body(_delivery(delivery_id)))


class AttemptsView(TenantView):
    scopes = {"GET": SCOPE}

    @extend_schema(
        operation_id="listWebhookAttempts",
        parameters=PAGE_PARAMETERS,
        responses=page_of("WebhookAttemptPage", WebhookAttemptSerializer),
        tags=TAGS,
    )
    def get(self, request: Request, delivery_id: str) -> Response:
        """List the attempts of a webhook delivery with your replies, newest first."""
        return page(request, queries.attempts(_delivery(delivery_id).id), serialize=attempt_body)


class ReplayView(TenantView):
    scopes = {"POST": SCOPE}
    audited = {"POST": "webhook_delivery.replayed"}

    @extend_schema(
        operation_id="replayWebhookDelivery", request=None, responses={202: WebhookDeliverySerializer}, tags=TAGS
    )
    @idempotent()
    def post(self, request: Request, delivery_id: str) -> Response:
        """Send a webhook delivery again, with the same `webhook-id` and body. Its schedule of attempts starts again."""
        return Response(delivery_body(recovery.replay(delivery=_delivery(delivery_id))), status=202)


class EventTypesView(TenantView):
    scopes = {"GET": SCOPE}

    @extend_schema(
        operation_id="listWebhookEventTypes",
        responses=page_of("WebhookEventTypePage", WebhookEventTypeSerializer),
        tags=TAGS,
    )
    def get(self, request: Request) -> Response:
        """List the types of webhook events with their descriptions."""
        return Response({"data": event_type_bodies(), "next_cursor": None})


class NoticeAddressView(ConditionalView):
    scopes = {"GET": SCOPE, "PUT": SCOPE}
    audited = {"PUT": "notice_address.updated"}
    changed_by = NoticeAddressRequestSerializer

    @extend_schema(operation_id="getNoticeAddress", responses=NoticeAddressSerializer, tags=TAGS)
    def get(self, request: Request) -> Response:
        """Return who gets notices by mail: of disabled webhook endpoints, and of limits that come to their end."""
        return _notice_address()

    @extend_schema(
        operation_id="updateNoticeAddress",
        parameters=[IF_MATCH],
        request=NoticeAddressRequestSerializer,
        responses=NoticeAddressSerializer,
        tags=TAGS,
    )
    def put(self, request: Request) -> Response:
        """Set who gets notices by mail: an address, and the roles whose members get them too.

        A new address is mailed a link, at most one an hour, and gets notices once a reader has confirmed there.
        """
        wanted = parsed(NoticeAddressRequestSerializer, request)
        named_addresses.choose(named_addresses.NOTICES, wanted["email"])
        if "roles" in wanted:
            set_notice_roles(roles=wanted["roles"])
        return _notice_address()


def _notice_address() -> Response:
    tenant = Tenant.objects.get(id=current_tenant_id())
    body = {"email": tenant.notice_email, "confirmed": tenant.notice_confirmed, "roles": tenant.notice_roles}
    return Response(NoticeAddressSerializer(body).data)


routes = [
    path("notice-address", NoticeAddressView.as_view()),
    path("webhook-event-types", EventTypesView.as_view()),
    path("webhook-endpoints", EndpointsView.as_view()),
    path("webhook-endpoints/<str:endpoint_id>", EndpointView.as_view()),
    path("webhook-endpoints/<str:endpoint_id>/rotate-secret", RotateSecretView.as_view()),
    path("webhook-endpoints/<str:endpoint_id>/test", TestEndpointView.as_view()),
    path("webhook-endpoints/<str:endpoint_id>/replay", EndpointReplayView.as_view()),
    path("webhook-events", EventsView.as_view()),
    path("webhook-events/<str:webhook_event_id>", EventView.as_view()),
    path("webhook-deliveries", DeliveriesView.as_view()),
    path("webhook-deliveries/<str:delivery_id>", DeliveryView.as_view()),
    path("webhook-deliveries/<str:delivery_id>/attempts", AttemptsView.as_view()),
    path("webhook-deliveries/<str:delivery_id>/replay", ReplayView.as_view()),
]
