"""Lists narrowed by the time of creation and by labels, in both orders, page by page."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import yaml
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from backend.api.public_ids import encode
from backend.clips.models import Clip
from backend.library.models import Collection, Upload
from backend.questions.models import Comparison, Question, QuestionBatch, Search, Session
from backend.shares.models import Share
from backend.tenancy.secrets import seal
from backend.tenancy.services import issue_api_key
from backend.webhooks.models import Delivery, Endpoint, WebhookEvent
from tests.api.test_service import OPENAPI
from tests.conftest import Cast
from tests.factories import make_video
from tests.people.cast import invitation_of, member_of, person

ARMS = [{"method": name, "effort": "low", "check": "auto", "label": name} for name in ("ava", "vector")]
SETTINGS = {"mode": "hybrid", "views": {}, "fusion": "borda", "limit": 16}
UPLOAD: dict[str, Any] = {
    "filename": "a", "content_type": "video/mp4", "size_bytes": 1, "part_size": 1,
}  # fmt: skip


def made(cast: Cast, path: str, labels: dict[str, str]) -> tuple[str, Any]:
    """Make one thing of a list, in an open scope. Returns its public id and when it was created."""
    mine = {"tenant_id": cast.tenant_id}
    match path:
        case "videos":
            prefix, row = "vid", make_video(metadata=labels)
        case "uploads":
            prefix, row = (
                "upl",
                Upload.objects.create(
                    **mine, **UPLOAD, metadata=labels, expires_at=timezone.now() + timedelta(hours=1)
                ),
            )
        case "questions":
            prefix, row = "qst", Question.objects.create(**mine, text="Who?", metadata=labels)
        case "searches":
            prefix, row = "sea", Search.objects.create(**mine, text="Who?", settings=SETTINGS)
        case "sessions":
            prefix, row = "ses", Session.objects.create(**mine, metadata=labels)
        case "question-batches":
            prefix, row = "bat", QuestionBatch.objects.create(**mine, total=0, metadata=labels)
        case "collections":
            prefix, row = "col", Collection.objects.create(**mine, name=uuid4().hex)
        case "index-jobs":
            prefix, row = "job", make_video()
        case "api-keys":
            row, _ = issue_api_key(name="another", scopes=["videos:read"])
            prefix = "key"
        case "members":
            prefix, row = "mem", member_of(cast, "viewer", person())
        case "invitations":
            prefix, row = "inv", invitation_of(cast)
        case "shares":
            video = make_video()
            ends = timezone.now() + timedelta(days=1)
            prefix, row = "shr", Share.objects.create(**mine, video=video, digest=b"0" * 32, expires_at=ends)
        case "clips":
            span = {"start_ms": 0, "end_ms": 1_000, "mode": "fast", "captions": "none"}
            ends = timezone.now() + timedelta(days=1)
            prefix, row = "clp", Clip.objects.create(**mine, **span, video=make_video(), expires_at=ends)
        case "webhook-endpoints":
            prefix, row = "whe", endpoint_of(cast)
        case "webhook-deliveries":
            ends = timezone.now() + timedelta(days=1)
            event = event_of(cast)
            delivery = Delivery.objects.create(**mine, endpoint=endpoint_of(cast), event=event, expires_at=ends)
            prefix, row = "whd", delivery
        case "webhook-events":
            prefix, row = "msg", event_of(cast)
        case _:
            prefix, row = "cmp", Comparison.objects.create(**mine, total=0, arms=ARMS, metadata=labels)
    return encode(prefix, row.id), row.created_at


def event_of(cast: Cast) -> WebhookEvent:
    envelope = {"type": "video.ready", "timestamp": "2026-01-01T00:00:00Z", "sequence": 1, "data": {"id": "vid_1"}}
    row: WebhookEvent = WebhookEvent.objects.create(
        tenant_id=cast.tenant_id, type="video.ready", body=json.dumps(envelope), resource_id=uuid4()
    )
    return row


def endpoint_of(cast: Cast) -> Endpoint:
    row: Endpoint = Endpoint.objects.create(
        tenant_id=cast.tenant_id, url=f"https://example.com/{uuid4().hex}", secret=seal(b"x")
    )
    return row


LABELLED = ("videos", "uploads", "questions", "sessions", "question-batches", "comparisons")
LISTS = (
    *LABELLED, "searches", "collections", "index-jobs", "api-keys", "members", "invitations", "shares",
    "clips", "webhook-endpoints", "webhook-deliveries", "webhook-events",
)  # fmt: skip

WITHOUT = {
    "/v1/audit-events": "has since and until",
    "/v1/budgets": "one row for each key",
    "/v1/credits": "few rows",
    "/v1/invoices": "one row a month",
    "/v1/usage": "has from and to",
    "/v1/usage/events": "has from and to",
}
"""Lists without a span of creation, with the reason. Lists of the parts of one thing need none either."""


def test_every_list_takes_a_span_of_creation_or_says_why_not() -> None:
    paths = yaml.safe_load(OPENAPI.read_text())["paths"]
    spans: dict[str, bool] = {}
    for path, operations in paths.items():
        names = {parameter.get("name") for parameter in operations.get("get", {}).get("parameters", ())}
        if "cursor" in names and "{" not in path:
            spans[path] = {"created_since", "created_until", "sort"} <= names
    assert {path for path, has in spans.items() if has} == {f"/v1/{path}" for path in LISTS}
    assert {path for path, has in spans.items() if not has} == set(WITHOUT)


def ids(cast: Cast, path: str, **query: Any) -> list[str]:
    reply = cast.client.get(f"/v1/{path}", query)
    assert reply.status_code == 200, reply.content
    return [row["id"] for row in reply.json()["data"]]


@pytest.mark.parametrize("path", LISTS)
def test_a_list_is_narrowed_by_the_time_of_creation_and_sorted(acme: Cast, path: str) -> None:
    with acme.scope():
        rows = [made(acme, path, {}) for _ in range(3)]
    (first, begin), (second, at), (third, last) = rows

    since = {"created_since": begin.isoformat()}

    assert ids(acme, path, **since) == ids(acme, path, **since, sort="-created_at") == [third, second, first]
    assert ids(acme, path, **since, sort="created_at") == [first, second, third]
    assert ids(acme, path, created_since=at.isoformat()) == [third, second]
    assert ids(acme, path, **since, created_until=at.isoformat()) == [first]
    span = {"created_since": at.isoformat(), "created_until": last.isoformat()}
    assert ids(acme, path, **span, sort="created_at") == [second]

    page = acme.client.get(f"/v1/{path}", {**since, "sort": "created_at", "limit": 2}).json()
    assert ids(acme, path, **since, sort="created_at", cursor=page["next_cursor"]) == [third]


@pytest.mark.parametrize("path", LABELLED)
def test_a_list_is_narrowed_by_labels(acme: Cast, globex: Cast, path: str) -> None:
    with globex.scope():
        made(globex, path, {"case": "7"})
    with acme.scope():
        both, _ = made(acme, path, {"case": "7", "gate": "west"})
        one, _ = made(acme, path, {"case": "7"})
        made(acme, path, {"case": "8"})

    assert ids(acme, path, metadata='{"case": "7"}') == [one, both]
    assert ids(acme, path, metadata=json.dumps({"gate": "west", "case": "7"})) == [both]
    assert ids(acme, path, metadata='{"case": ""}') == []


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"metadata": "case"}, "/metadata"),
        ({"metadata": "[1]"}, "/metadata"),
        ({"metadata": json.dumps({"case": "7" * 490}).replace("{", "{" + " " * 4_000)}, "/metadata"),
        ({"metadata": "[" * 3_000}, "/metadata"),
        ({"metadata": '{"case": "\\u0000"}'}, "/metadata/case"),
        ({"metadata": '{"case": "\\ud800"}'}, "/metadata/case"),
        ({"metadata": '{"case": {"a": "b"}}'}, "/metadata/case"),
        ({"sort": "title"}, "/sort"),
        ({"created_since": "yesterday"}, "/created_since"),
        ({"created_since": "0001-01-01T00:00:00+14:00"}, "/created_since"),
    ],
)
def test_a_wish_that_is_not_valid_is_refused(acme: Cast, query: dict[str, str], pointer: str) -> None:
    reply = acme.client.get("/v1/videos", query)

    assert (reply.status_code, reply.json()["code"]) == (400, "invalid_request")
    assert reply.json()["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_the_ends_of_time_are_no_error(acme: Cast, at: str) -> None:
    with acme.scope():
        row, _ = made(acme, "questions", {})
    assert ids(acme, "questions", created_since=at) == ([row] if at < "1" else [])
    assert ids(acme, "questions", created_until=at) == ([] if at < "1" else [row])


def test_a_span_is_found_by_the_index_of_ids(acme: Cast) -> None:
    with CaptureQueriesContext(connection) as captured:
        ids(acme, "questions", created_since="2026-01-01T00:00:00Z", created_until="2026-01-02T00:00:00Z")
    (statement,) = [query["sql"] for query in captured if 'FROM "questions_question"' in query["sql"]]
    assert '"questions_question"."id" >= ' in statement
    assert '"questions_question"."id" <= ' in statement


def test_the_questions_of_a_batch_keep_its_order_unless_another_is_asked_for(acme: Cast) -> None:
    with acme.scope():
        batch = QuestionBatch.objects.create(tenant_id=acme.tenant_id, total=2)
        asked = [
            encode("qst", Question.objects.create(
                tenant_id=acme.tenant_id, text="Who?", batch=batch, batch_position=position
            ).id)
            for position in (1, 0)
        ]  # fmt: skip
    named = encode("bat", batch.id)
    assert ids(acme, "questions", batch_id=named) == asked[::-1]
    assert ids(acme, "questions", batch_id=named, sort="created_at") == asked
