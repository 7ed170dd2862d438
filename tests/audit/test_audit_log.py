"""Every administrative act leaves a row that nobody can change, and that only its tenant sees."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from typing import Any

import pytest
from django.db import DatabaseError

from backend.api.public_ids import encode
from backend.audit.models import ActorKind, AuditEvent
from backend.audit.services import Actor, record
from backend.tenancy.services import issue_api_key
from tests.conftest import Cast
from tests.isolation.test_routes import routes
from tests.tenancy.test_api_keys import with_key


def events(cast: Cast, **query: str) -> list[dict[str, Any]]:
    reply = cast.client.get("/v1/audit-events", query)
    assert reply.status_code == 200, reply.content
    data: list[dict[str, Any]] = reply.json()["data"]
    return data


def test_making_a_key_is_recorded_with_who_what_and_from_where(acme: Cast, globex: Cast) -> None:
    body = {"name": "ci", "scopes": ["videos:read"]}
    made = acme.client.post("/v1/api-keys", body, REMOTE_ADDR="198.51.100.7", HTTP_X_REQUEST_ID="mine")

    (event,) = events(acme)

    assert event.pop("id").startswith("aud_")
    assert event.pop("occurred_at")
    assert event == {
        "object": "audit_event",
        "action": "api_key.created",
        "actor": {"type": "api_key", "id": encode("key", acme.key_id), "name": "test"},
        "resource_id": made.json()["id"],
        "reason": "",
        "address": "198.51.100.7",
        "request_id": "mine",
        "details": {
            "name": "ci", "scopes": ["videos:read"], "expires_at": None, "allowed_ips": [], "requests_per_minute": None,
        },
    }  # fmt: skip
    assert made.json()["key"] not in json.dumps(event)
    assert events(globex) == []


def test_a_refused_or_repeated_act_is_not_recorded(acme: Cast) -> None:
    body = {"name": "ci", "scopes": ["videos:read"]}
    for _ in range(2):
        assert acme.client.post("/v1/api-keys", body, HTTP_IDEMPOTENCY_KEY="k-1").status_code == 201
    assert acme.client.post("/v1/api-keys", {"name": "", "scopes": []}).status_code == 400
    assert acme.client.delete(f"/v1/api-keys/{encode('key', acme.key_id)}").status_code == 409

    assert [event["action"] for event in events(acme)] == ["api_key.created"]


def test_every_kind_of_act_of_the_tenant_is_recorded(acme: Cast) -> None:
    client = acme.client
    key = client.post("/v1/api-keys", {"name": "ci", "scopes": ["videos:read"]}).json()["id"]
    client.patch(f"/v1/api-keys/{key}", {"name": "cd"})
    client.post(f"/v1/api-keys/{key}/rotate", {})
    client.delete(f"/v1/api-keys/{key}")
    client.put("/v1/budget", {"max_tokens": 5})
    hook = client.post("/v1/webhook-endpoints", {"url": "https://example.org/hook"}).json()["id"]
    client.patch(f"/v1/webhook-endpoints/{hook}", {"description": "x"})
    client.post(f"/v1/webhook-endpoints/{hook}/rotate-secret", {})
    client.delete(f"/v1/webhook-endpoints/{hook}")
    video = client.post("/v1/videos", {"source": {"type": "segments"}}).json()["id"]
    client.delete(f"/v1/videos/{video}")

    found = [(event["action"], event["resource_id"]) for event in reversed(events(acme))]

    assert found == [
        ("api_key.created", key), ("api_key.renamed", key), ("api_key.rotated", key), ("api_key.revoked", key),
        ("budget.updated", None), ("webhook_endpoint.created", hook), ("webhook_endpoint.updated", hook),
        ("webhook_endpoint.secret_rotated", hook), ("webhook_endpoint.deleted", hook), ("video.deleted", video),
    ]  # fmt: skip
    assert [event["action"] for event in events(acme, resource_id=hook, limit="1")] == ["webhook_endpoint.deleted"]
    assert events(acme, actor_type="person") == events(acme, since="2999-01-01T00:00:00Z") == []


@pytest.mark.parametrize("change", ["update", "delete"])
def test_the_role_of_requests_can_append_and_nothing_else(acme: Cast, change: str) -> None:
    with acme.scope():
        record("tenant.noted", actor=Actor(ActorKind.OPERATOR))
    rows = AuditEvent.unscoped.filter(action="tenant.noted")
    act = partial(rows.update, action="x") if change == "update" else rows.delete
    with pytest.raises(DatabaseError, match="permission denied"), acme.scope():
        act()
    assert [event["action"] for event in events(acme)] == ["tenant.noted"]


def test_our_staff_is_shown_with_its_reason_and_without_its_name(acme: Cast) -> None:
    with acme.scope():
        staff = Actor(ActorKind.STAFF, acme.key_id, "sam@example.org", "10.0.0.1")
        record("question.viewed", actor=staff, object_id="qst_1", reason="ticket 7")

    (event,) = events(acme, actor_type="staff")

    assert event["actor"] == {"type": "staff", "id": None, "name": "AVA Cloud staff"}
    assert (event["resource_id"], event["reason"], event["address"]) == ("qst_1", "ticket 7", None)


def test_the_log_is_exported_as_lines_and_as_a_table(acme: Cast, globex: Cast) -> None:
    with globex.scope():
        record("key.theirs", actor=Actor(ActorKind.OPERATOR))
    with acme.scope():
        for number in range(3):
            record(f"tenant.act{number}", actor=Actor(ActorKind.PERSON, acme.key_id, "=cmd()"), details={"n": number})

    as_lines = acme.client.get("/v1/audit-events/export")
    as_table = acme.client.get("/v1/audit-events/export", {"file_type": "csv", "action": "tenant.act1"})

    bodies = [json.loads(line) for line in as_lines.getvalue().decode().splitlines()]
    assert bodies == list(reversed(events(acme)))
    assert [body["details"] for body in bodies] == [{"n": 0}, {"n": 1}, {"n": 2}]
    (row,) = csv.DictReader(io.StringIO(as_table.getvalue().decode()))
    assert (row["action"], row["details"], row["actor_name"]) == ("tenant.act1", '{"n": 1}', "'=cmd()")
    assert as_table.headers["Content-Disposition"] == 'attachment; filename="audit-events.csv"'


def test_a_key_needs_the_scope_of_the_log(acme: Cast) -> None:
    with acme.scope():
        _, text = issue_api_key(name="keeper", scopes=["keys:write"])
        _, auditor = issue_api_key(name="auditor", scopes=["audit:read"])

    for path in ("/v1/audit-events", "/v1/audit-events/export"):
        assert with_key(text).get(path).status_code == 403
        assert with_key(auditor).get(path).status_code == 200


ADMINISTRATIVE = {"keys:write", "budgets:write", "billing:write", "members:write", "retention:write", "shares:write",
                  "webhooks:write"}  # fmt: skip
SENDS_AGAIN = {
    "v1/webhook-endpoints/<str:endpoint_id>/test",
    "v1/webhook-endpoints/<str:endpoint_id>/replay",
    "v1/webhook-deliveries/<str:delivery_id>/replay",
}
"""Routes that deliver what has happened before, and set nothing."""


def test_every_route_that_sets_something_for_the_tenant_is_recorded() -> None:
    unrecorded = {
        (method, route)
        for route, view in routes()
        for method, scope in getattr(view, "scopes", {}).items()
        if method != "GET" and scope in ADMINISTRATIVE and method not in view.audited
    }

    assert {route for _, route in unrecorded} == SENDS_AGAIN


def test_new_origins_and_a_new_notice_address_are_recorded(acme: Cast) -> None:
    acme.client.put("/v1/allowed-origins", {"origins": ["https://app.example.org"]}, format="json")
    acme.client.put("/v1/notice-address", {"email": "ops@example.org"}, format="json")

    address, origins = events(acme)
    assert (address["action"], address["details"]) == ("notice_address.updated", {})
    assert (origins["action"], origins["details"]) == (
        "allowed_origins.updated",
        {"origins": ["https://app.example.org"]},
    )
