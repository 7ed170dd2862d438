"""Webhook endpoints and deliveries over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import override_settings
from django.utils import timezone
from uuid6 import uuid7

from backend.api import public_ids
from backend.api.models import IdempotencyRecord
from backend.jobs.models import Job
from backend.tenancy.secrets import open_sealed
from backend.webhooks.models import Delivery, DeliveryState, Endpoint, EndpointState
from tests.webhooks.delivering import make_attempt
from tests.webhooks.receiver import receiving


def create(cast: Any, **values: Any) -> Any:
    return cast.client.post("/v1/webhook-endpoints", {"url": "https://example.com/hook", **values}, format="json")


def test_the_secret_is_given_at_creation_and_never_again(acme: Any) -> None:
    created = create(acme, event_types=["video.ready"])
    where = f"/v1/webhook-endpoints/{created.json()['id']}"
    listed = acme.client.get("/v1/webhook-endpoints").json()["data"]

    assert created.status_code == 201
    assert created.json()["secret"].startswith("whsec_")
    assert created.headers["Cache-Control"] == "no-store"
    assert [set(row) & {"secret", "previous_secret"} for row in [*listed, acme.client.get(where).json()]] == [set()] * 2
    assert acme.client.get(f"{where}/secret").status_code == 404


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"url": "ftp://example.com"}, "invalid_url"),
        ({"url": "https://user@example.com"}, "invalid_url"),
        ({"event_types": ["video.eaten"]}, "unknown_event_type"),
    ],
)
def test_an_endpoint_that_cannot_work_is_refused(acme: Any, values: Any, code: str) -> None:
    reply = create(acme, **values)

    assert (reply.status_code, reply.json()["code"]) == (400, "invalid_request")
    assert [(error["pointer"], error["code"]) for error in reply.json()["errors"]] == [(f"/{next(iter(values))}", code)]
    with acme.scope():
        assert not Endpoint.objects.exists()


@pytest.mark.parametrize("url", ["https://10.0.0.1/", "https://localhost/", "http://example.com/", "https://[::1]/x"])
def test_a_private_address_is_refused_unless_the_operator_allows_it(acme: Any, url: str) -> None:
    assert create(acme, url=url).status_code == 201
    with override_settings(WEBHOOK_ALLOW_PRIVATE=False):
        assert create(acme, url=url).status_code == 400
    with acme.scope():
        assert Endpoint.objects.count() == 1


def test_changing_disabling_and_deleting(acme: Any) -> None:
    where = f"/v1/webhook-endpoints/{create(acme).json()['id']}"
    changed = acme.client.patch(where, {"event_types": ["video.ready"], "enabled": False}, format="json").json()

    assert (changed["event_types"], changed["state"]) == (["video.ready"], "disabled")
    assert acme.client.patch(where, {"enabled": True}, format="json").json()["state"] == "enabled"
    assert acme.client.delete(where).status_code == 204
    assert acme.client.get(where).status_code == 404


def test_a_tenant_has_a_bounded_number_of_endpoints(acme: Any) -> None:
    assert [create(acme).status_code for _ in range(21)] == [201] * 20 + [409]


def test_the_test_event_goes_to_this_endpoint_alone_and_can_be_replayed(acme: Any) -> None:
    create(acme)
    with receiving(500, 200, 200) as receiver:
        made = create(acme, url=receiver.url, event_types=["video.ready"]).json()
        delivery = acme.client.post(f"/v1/webhook-endpoints/{made['id']}/test").json()
        delivery_id = public_ids.decode("whd", delivery["id"])
        where = f"/v1/webhook-deliveries/{delivery['id']}"
        make_attempt(acme, delivery_id)
        assert acme.client.post(f"{where}/replay").json()["code"] == "delivery_pending"
        make_attempt(acme, delivery_id)
        replayed = acme.client.post(f"{where}/replay")
        make_attempt(acme, delivery_id)

    assert (delivery["event_type"], delivery["state"]) == ("webhook.test", "pending")
    assert (replayed.status_code, replayed.json()["state"]) == (202, "pending")
    assert acme.client.get(where).json()["state"] == "succeeded"
    attempts = acme.client.get(f"{where}/attempts").json()["data"]
    assert [(attempt["n"], attempt["status_code"]) for attempt in attempts] == [(3, 200), (2, 200), (1, 500)]
    assert "address" not in attempts[0], "where a name resolves to is ours to know"
    assert len({received.headers["webhook-id"] for received in receiver.received}) == 1
    assert len({received.body for received in receiver.received}) == 1
    with acme.scope():
        assert Delivery.objects.count() == 1
        assert Job.objects.filter(subject_id=delivery_id).count() == 3


def test_a_disabled_endpoint_is_neither_tested_nor_replayed(acme: Any) -> None:
    made = create(acme).json()
    delivery = acme.client.post(f"/v1/webhook-endpoints/{made['id']}/test").json()
    with acme.scope():
        Delivery.objects.update(state=DeliveryState.DEAD)
        Endpoint.objects.update(state=EndpointState.AUTO_DISABLED)

    for where in (f"/v1/webhook-endpoints/{made['id']}/test", f"/v1/webhook-deliveries/{delivery['id']}/replay"):
        reply = acme.client.post(where)
        assert (reply.status_code, reply.json()["code"]) == (409, "endpoint_disabled")


def test_rotation_gives_a_new_secret_and_the_end_of_the_old(acme: Any) -> None:
    made = create(acme).json()
    rotated = acme.client.post(f"/v1/webhook-endpoints/{made['id']}/rotate-secret").json()

    assert rotated["secret"] != made["secret"]
    assert rotated["previous_secret_until"] is not None


def test_a_repeated_creation_makes_one_endpoint_and_shows_the_same_secret(acme: Any) -> None:
    def repeat(url: str = "https://example.com/hook") -> Any:
        return acme.client.post("/v1/webhook-endpoints", {"url": url}, HTTP_IDEMPOTENCY_KEY="k-1")

    first, second, other = repeat(), repeat(), repeat("https://example.com/else")

    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json()
    assert second.headers["Idempotency-Replayed"] == "true"
    assert second.headers["Cache-Control"] == "no-store"
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    with acme.scope():
        assert Endpoint.objects.count() == 1


def test_a_repeated_rotation_rotates_once(acme: Any) -> None:
    made = create(acme).json()
    where = f"/v1/webhook-endpoints/{made['id']}/rotate-secret"

    first = acme.client.post(where, HTTP_IDEMPOTENCY_KEY="k-1")
    second = acme.client.post(where, HTTP_IDEMPOTENCY_KEY="k-1")

    assert second.json() == first.json()
    assert first.json()["secret"] != made["secret"]
    with acme.scope():
        endpoint = Endpoint.objects.get()
        assert open_sealed(endpoint.previous_secret).decode() == made["secret"]
        assert open_sealed(endpoint.secret).decode() == first.json()["secret"]


def test_a_second_rotation_waits_for_the_end_of_the_overlap_unless_it_is_forced(acme: Any) -> None:
    """A receiver still uses the first secret: dropping it would make the receiver reject every event."""
    made = create(acme).json()
    where = f"/v1/webhook-endpoints/{made['id']}/rotate-secret"
    first = acme.client.post(where).json()

    refused = acme.client.post(where)

    assert (refused.status_code, refused.json()["code"]) == (409, "rotation_in_overlap")
    with acme.scope():
        assert open_sealed(Endpoint.objects.get().previous_secret).decode() == made["secret"]
    forced = acme.client.post(where, {"force": True}).json()
    assert forced["secret"] not in {made["secret"], first["secret"]}
    with acme.scope():
        assert open_sealed(Endpoint.objects.get().previous_secret).decode() == first["secret"]
        Endpoint.objects.update(previous_secret_until=timezone.now())
    assert acme.client.post(where).status_code == 200


def test_a_stored_answer_does_not_hold_the_secret_in_clear(acme: Any) -> None:
    made = acme.client.post(
        "/v1/webhook-endpoints", {"url": "https://example.com/hook"}, HTTP_IDEMPOTENCY_KEY="k-1"
    ).json()

    with acme.scope():
        stored = json.dumps(IdempotencyRecord.objects.get().response)
    assert made["secret"] not in stored
    assert made["secret"].removeprefix("whsec_") not in stored


def test_the_types_are_listed(acme: Any) -> None:
    types = acme.client.get("/v1/webhook-event-types").json()["data"]

    assert {row["type"] for row in types} == {
        "upload.completed", "video.ready", "video.failed", "video.reindex_failed", "question.completed", "clip.ready",
        "clip.failed",
        "question.failed", "question.canceled", "question_batch.completed", "comparison.completed", "webhook.test",
        "video.indexing", "video.deleted", "usage.threshold_reached", "budget.exceeded", "webhook_endpoint.disabled",
        "budget.suspended", "invoice.finalized", "invoice.paid", "invoice.voided", "invoice.overdue",
    }  # fmt: skip


def test_foreign_endpoints_and_deliveries_are_as_unknown_as_none(acme: Any, globex: Any) -> None:
    made = create(globex).json()
    delivery = globex.client.post(f"/v1/webhook-endpoints/{made['id']}/test").json()
    unknown = {"whe": public_ids.encode("whe", uuid7()), "whd": public_ids.encode("whd", uuid7())}
    routes = [
        ("get", "/v1/webhook-endpoints/{whe}"), ("patch", "/v1/webhook-endpoints/{whe}"),
        ("delete", "/v1/webhook-endpoints/{whe}"), ("post", "/v1/webhook-endpoints/{whe}/replay"),
        ("post", "/v1/webhook-endpoints/{whe}/rotate-secret"), ("post", "/v1/webhook-endpoints/{whe}/test"),
        ("get", "/v1/webhook-deliveries/{whd}"), ("get", "/v1/webhook-deliveries/{whd}/attempts"),
        ("post", "/v1/webhook-deliveries/{whd}/replay"),
    ]  # fmt: skip
    for method, route in routes:
        replies = [
            getattr(acme.client, method)(route.format(**ids), None)
            for ids in ({"whe": made["id"], "whd": delivery["id"]}, unknown)
        ]
        bodies = [{**reply.json(), "request_id": "", "instance": ""} for reply in replies]
        assert [reply.status_code for reply in replies] == [404, 404], route
        assert bodies[0] == bodies[1], route
    assert globex.client.get(f"/v1/webhook-endpoints/{made['id']}").json()["state"] == "enabled"
    assert acme.client.get("/v1/webhook-deliveries").json()["data"] == []
