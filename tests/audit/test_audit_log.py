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
            "name": "ci", "mode": "live", "scopes": ["videos:read"], "expires_at": None, "allowed_ips": [],
            "requests_per_minute": None,
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


CONTENT = "adds or changes content, which keeps its own time and key"
WORK = "decides about work of the tenant's own, which keeps its own state and key"
READS = "changes nothing"
UNRECORDED = {
    ("POST", "v1/videos:estimate"): READS,
    ("POST", "v1/questions:estimate"): READS,
    ("POST", "v1/uploads"): CONTENT,
    ("POST", "v1/uploads/<str:upload_id>/part-urls"): CONTENT,
    ("POST", "v1/uploads/<str:upload_id>/complete"): CONTENT,
    ("POST", "v1/videos"): CONTENT,
    ("POST", "v1/videos/<str:video_id>/segments"): CONTENT,
    ("POST", "v1/videos/<str:video_id>/close"): CONTENT,
    ("POST", "v1/sessions"): CONTENT,
    ("POST", "v1/search"): CONTENT,
    ("POST", "v1/questions"): CONTENT,
    ("PATCH", "v1/questions/<str:question_id>"): WORK,
    ("PUT", "v1/questions/<str:question_id>/feedback"): CONTENT,
    ("DELETE", "v1/questions/<str:question_id>/feedback"): CONTENT,
    ("POST", "v1/question-batches"): CONTENT,
    ("PATCH", "v1/question-batches/<str:batch_id>"): WORK,
    ("POST", "v1/comparisons"): CONTENT,
    **{
        ("POST", f"v1/{resource}/{act}"): WORK
        for resource, acts in {
            "questions/<str:question_id>": ("cancel", "pause", "resume", "retry"),
            "question-batches/<str:batch_id>": ("cancel", "pause", "resume", "retry"),
            "searches/<str:search_id>": ("cancel", "retry"),
            "comparisons/<str:comparison_id>": ("cancel",),
        }.items()
        for act in acts
    },
    ("DELETE", "v1/tenant"): "records the act itself, before the tenant is suspended",
}
"""Writing routes without an act in the log, with the reason."""


def test_every_writing_route_is_recorded_or_named_with_a_reason() -> None:
    writing = {
        (method, route): view
        for route, view in routes()
        for method in ("POST", "PUT", "PATCH", "DELETE")
        if hasattr(view, method.lower())
    }

    unrecorded = {case for case, view in writing.items() if case[0] not in getattr(view, "audited", {})}

    assert unrecorded == set(UNRECORDED), unrecorded ^ set(UNRECORDED)
    assert len(writing) > len(unrecorded) + 30, "the resolver gave the routes"


def test_folders_indexing_and_repeated_deliveries_are_recorded(acme: Cast) -> None:
    client = acme.client
    yard = client.post("/v1/collections", {"name": "Yard"}).json()["id"]
    client.patch(f"/v1/collections/{yard}", {"name": "Court"})
    video = client.post("/v1/videos", {"source": {"type": "segments"}}).json()["id"]
    assert client.patch(f"/v1/videos/{video}", {"title": "Monday"}).status_code == 200
    assert client.patch(f"/v1/videos/{video}", {"collection_id": yard}).status_code == 200
    job = client.get("/v1/index-jobs", {"video_id": video}).json()["data"][0]["id"]
    for act in ("pause", "resume", "cancel"):
        assert client.post(f"/v1/index-jobs/{job}/{act}").status_code == 200, act
    hook = client.post("/v1/webhook-endpoints", {"url": "https://example.org/hook"}).json()["id"]
    delivery = client.post(f"/v1/webhook-endpoints/{hook}/test").json()["id"]
    client.post(f"/v1/webhook-endpoints/{hook}/replay", {"since": "2026-01-01T00:00:00Z"})
    client.delete(f"/v1/collections/{yard}")

    found = [(event["action"], event["resource_id"], event["details"]) for event in reversed(events(acme))]

    assert found == [
        ("collection.created", yard, {"name": "Yard"}),
        ("collection.updated", yard, {"fields": ["name"]}),
        ("video.moved", video, {"before": None, "collection_id": yard}),
        ("index_job.paused", job, {}),
        ("index_job.resumed", job, {}),
        ("index_job.canceled", job, {}),
        ("webhook_endpoint.created", hook, {}),
        ("webhook_endpoint.tested", hook, {}),
        ("webhook_endpoint.replayed", hook, {}),
        ("collection.deleted", yard, {"name": "Court"}),
    ]
    assert delivery.startswith("whd_")


def test_new_origins_and_a_new_notice_address_are_recorded(acme: Cast) -> None:
    acme.client.put("/v1/allowed-origins", {"origins": ["https://app.example.org"]}, format="json")
    acme.client.put("/v1/notice-address", {"email": "ops@example.org"}, format="json")

    address, origins = events(acme)
    assert (address["action"], address["details"]) == ("notice_address.updated", {})
    assert (origins["action"], origins["details"]) == (
        "allowed_origins.updated",
        {"origins": ["https://app.example.org"]},
    )
