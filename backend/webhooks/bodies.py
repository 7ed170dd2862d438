"""Webhook endpoints, deliveries and event types on the wire."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from backend.api.bodies import NameField, StrictSerializer
from backend.api.listing import ListQuerySerializer
from backend.api.public_ids import PublicIdField, encode_creator
from backend.tenancy.models import NOTICE_ROLES
from backend.webhooks import payloads
from backend.webhooks.models import (
    Attempt,
    BreakerState,
    Delivery,
    DeliveryState,
    DisabledReason,
    Endpoint,
    EndpointState,
    WebhookEvent,
)
from backend.webhooks.recovery import Replayed


class WebhookEndpointRequestSerializer(StrictSerializer):
    url = serializers.CharField(max_length=2_000, help_text="An https URL that receives the events.")
    description = NameField(max_length=200, required=False, allow_blank=True)
    event_types = serializers.ListField(
        child=serializers.CharField(max_length=64),
        required=False,
        help_text="Types of the events to send; an empty list stands for all types.",
    )


class WebhookEndpointUpdateRequestSerializer(StrictSerializer):
    url = serializers.CharField(max_length=2_000, required=False, help_text="An https URL that receives the events.")
    description = NameField(max_length=200, required=False, allow_blank=True)
    event_types = serializers.ListField(
        child=serializers.CharField(max_length=64),
        required=False,
        help_text="Types of the events to send; an empty list stands for all types.",
    )
    enabled = serializers.BooleanField(required=False, help_text="`false` stops deliveries; `true` starts them again.")


class WebhookSecretRotationRequestSerializer(StrictSerializer):
    force = serializers.BooleanField(
        default=False,
        help_text="Rotate although the previous secret is still valid, for example because a secret has leaked. "
        "The previous secret ends at once.",
    )


class WebhookReplayRequestSerializer(StrictSerializer):
    since = serializers.DateTimeField(help_text="Events that happened from this time on.")
    include_succeeded = serializers.BooleanField(
        default=False,
        help_text="Also send deliveries that succeeded, for example because your receiver has lost its data.",
    )


class WebhookReplaySerializer(serializers.Serializer[Any]):
    queued = serializers.IntegerField(help_text="Number of deliveries that are on their way now.")
    next_since = serializers.DateTimeField(
        allow_null=True, help_text="Send this as `since` to continue; null if nothing is left."
    )


class NoticeAddressSerializer(serializers.Serializer[Any]):
    email = serializers.CharField(allow_blank=True, help_text="An address that gets all notices; empty for none.")
    confirmed = serializers.BooleanField(
        help_text="Whether a reader of the address wants the notices. Until then a link is mailed there, and no "
        "notice. Addresses of your owners, admins and billing members need no confirmation."
    )
    roles = serializers.ListField(
        child=serializers.ChoiceField(NOTICE_ROLES), help_text="Roles whose members get all notices."
    )


class NoticeAddressRequestSerializer(StrictSerializer):
    email = serializers.EmailField(
        max_length=254, allow_blank=True, help_text="An address that gets all notices; empty for none."
    )
    roles = serializers.ListField(
        child=serializers.ChoiceField(NOTICE_ROLES),
        required=False,
        max_length=len(NOTICE_ROLES),
        help_text="Roles whose members get all notices; without it they stay as they are.",
    )


class WebhookDeliveryQuerySerializer(ListQuerySerializer):
    endpoint_id = PublicIdField("whe", required=False)
    state = serializers.ChoiceField(DeliveryState.choices, required=False)
    event_type = serializers.ChoiceField(tuple(payloads.EVENT_TYPES), required=False)


class WebhookEventQuerySerializer(ListQuerySerializer):
    type = serializers.ChoiceField(tuple(payloads.EVENT_TYPES), required=False, help_text="Only events of this type.")


class WebhookEventSerializer(serializers.Serializer[Any]):
    id = PublicIdField("msg", help_text="The `webhook-id` header of the requests that deliver the event.")
    object = serializers.CharField()
    type = serializers.CharField(help_text="As in the body that your endpoints get.")
    timestamp = serializers.CharField(help_text="When the event happened, as in the body that your endpoints get.")
    sequence = serializers.IntegerField(
        help_text="Which change of this type of the resource, as in the body that your endpoints get."
    )
    data = serializers.DictField(  # type: ignore[assignment]  # a field, which the metaclass takes out of the class
        help_text="The outcome of the resource, as in the body that your endpoints get. Without the scope "
        "`questions:read` an `answer` is empty and a `choice` is null."
    )


class WebhookEndpointSerializer(serializers.Serializer[Any]):
    id = PublicIdField("whe")
    object = serializers.CharField()
    url = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    event_types = serializers.ListField(
        child=serializers.CharField(), help_text="Types of the events that are sent; empty for all types."
    )
    state = serializers.ChoiceField(
        EndpointState.choices, help_text="`auto_disabled`: too many deliveries in a row have failed."
    )
    disabled_at = serializers.DateTimeField(allow_null=True, help_text="When the service disabled the endpoint.")
    disabled_reason = serializers.ChoiceField(
        DisabledReason.choices,
        allow_blank=True,
        help_text="Why the service disabled the endpoint: it answered 410, or deliveries failed. Empty otherwise.",
    )
    dead_deliveries = serializers.IntegerField(help_text="Deliveries in a row that have failed for good.")
    breaker = serializers.ChoiceField(
        BreakerState.choices,
        help_text="`open`: attempts have failed, so deliveries wait until `probe_at`. `half_open`: one delivery is "
        "being attempted as a probe.",
    )
    probe_at = serializers.DateTimeField(allow_null=True, help_text="When the next delivery is attempted as a probe.")
    last_sequence = serializers.IntegerField(help_text="The `endpoint_sequence` of the newest delivery.")
    created_by = serializers.CharField(
        allow_null=True,
        help_text="The key (`key_…`) or the person (`per_…`) that made the endpoint or chose its present URL.",
    )
    created_at = serializers.DateTimeField()


class WebhookEndpointWithSecretSerializer(WebhookEndpointSerializer):
    secret = serializers.CharField(help_text="The signing secret, which begins with `whsec_`.")


class WebhookSecretSerializer(serializers.Serializer[Any]):
    secret = serializers.CharField(help_text="The signing secret, which begins with `whsec_`.")
    previous_secret_until = serializers.DateTimeField(
        allow_null=True, help_text="Until then requests carry a signature of the previous secret too."
    )


class WebhookDeliverySerializer(serializers.Serializer[Any]):
    id = PublicIdField("whd")
    object = serializers.CharField()
    endpoint_id = PublicIdField("whe")
    event_id = PublicIdField("msg", help_text="The `webhook-id` header of the requests.")
    event_type = serializers.CharField()
    resource_id = serializers.CharField(help_text="Id of the resource that the event is about, such as a video.")
    endpoint_sequence = serializers.IntegerField(
        allow_null=True,
        help_text="Order number of this delivery among those of the endpoint, without gaps; the body has it too. "
        "Null before the first attempt.",
    )
    state = serializers.ChoiceField(DeliveryState.choices)
    attempts = serializers.IntegerField(help_text="Number of attempts so far.")
    next_attempt_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    completed_at = serializers.DateTimeField(allow_null=True)


class WebhookAttemptSerializer(serializers.Serializer[Any]):
    n = serializers.IntegerField(help_text="Number of the attempt, from 1.")
    status_code = serializers.IntegerField(allow_null=True, help_text="HTTP status of your reply; null without one.")
    error_code = serializers.CharField(allow_blank=True, help_text="Why the attempt failed; empty if it succeeded.")
    response_excerpt = serializers.CharField(allow_blank=True, help_text="The beginning of your reply.")
    latency_ms = serializers.IntegerField()
    attempted_at = serializers.DateTimeField()


class WebhookEventTypeSerializer(serializers.Serializer[Any]):
    type = serializers.CharField()
    description = serializers.CharField()


def endpoint_body(endpoint: Endpoint) -> dict[str, Any]:
    """Return an endpoint as customers see it, without its secret."""
    return WebhookEndpointSerializer(_endpoint_fields(endpoint)).data


def endpoint_with_secret_body(endpoint: Endpoint, secret: str) -> dict[str, Any]:
    """Return a new endpoint with its signing secret."""
    return WebhookEndpointWithSecretSerializer({**_endpoint_fields(endpoint), "secret": secret}).data


def secret_body(endpoint: Endpoint, secret: str) -> dict[str, Any]:
    """Return the signing secret of an endpoint, and the end of the previous secret."""
    fields = {"secret": secret, "previous_secret_until": endpoint.previous_secret_until}
    return WebhookSecretSerializer(fields).data


def event_body(event: WebhookEvent, *, answers: bool) -> dict[str, Any]:
    """Return an event with the values of the body that is delivered, which is stored as text.

    answers: whether the caller may read answers; for another one they are empty.
    """
    body = json.loads(event.body)
    if not answers and "answer" in body["data"]:
        body["data"] = {**body["data"], **payloads.WITHOUT_ANSWER}
    shown = WebhookEventSerializer({**body, "id": event.id, "object": "webhook_event"})
    return dict(shown.to_representation(shown.instance))


def delivery_body(delivery: Delivery) -> dict[str, Any]:
    """Return a delivery with the type and the resource of its event."""
    names = (
        "id", "endpoint_id", "event_id", "endpoint_sequence", "state", "attempts", "next_attempt_at", "created_at",
        "completed_at",
    )  # fmt: skip
    return WebhookDeliverySerializer(
        {
            **{name: getattr(delivery, name) for name in names},
            "object": "webhook_delivery",
            "event_type": delivery.event.type,
            "resource_id": json.loads(delivery.event.body)["data"]["id"],
        }
    ).data


def attempt_body(attempt: Attempt) -> dict[str, Any]:
    """Return an attempt without the address of the receiver."""
    return WebhookAttemptSerializer(attempt).data


def replay_body(replayed: Replayed) -> dict[str, Any]:
    """Return what a recovery did."""
    return WebhookReplaySerializer(replayed).data


def event_type_bodies() -> Sequence[Any]:
    """Return the types of events with their descriptions."""
    rows = [{"type": name, "description": words} for name, words in payloads.EVENT_TYPES.items()]
    return list(WebhookEventTypeSerializer(rows, many=True).data)


def _endpoint_fields(endpoint: Endpoint) -> dict[str, Any]:
    names = (
        "id", "url", "description", "event_types", "state", "disabled_at", "disabled_reason", "dead_deliveries",
        "breaker", "probe_at", "last_sequence", "created_at",
    )  # fmt: skip
    return {
        "object": "webhook_endpoint",
        "created_by": encode_creator(person_id=endpoint.person_id, api_key_id=endpoint.api_key_id),
        **{name: getattr(endpoint, name) for name in names},
    }
