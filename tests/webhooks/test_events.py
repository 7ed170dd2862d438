"""The log of events: what endpoints were sent, or would have been, read with a cursor."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone
from uuid6 import uuid7

from backend.api.public_ids import encode
from backend.tenancy.context import tenant_scope
from backend.tenancy.services import issue_api_key
from backend.webhooks import services
from backend.webhooks.models import WebhookEvent
from backend.webhooks.redaction import redact_events
from tests.conftest import Cast
from tests.questions.world import ask, finish
from tests.webhooks.receiver import receiving
from tests.webhooks.sending import sending, until

PATH = "/v1/webhook-events"


def emitted(cast: Cast, *types: str) -> list[str]:
    """Emit one event of each type and return their ids."""
    with cast.scope():
        made = [services.emit(type=kind, resource_id=uuid7(), data={"id": f"x_{n}"}) for n, kind in enumerate(types)]
        return [encode("msg", event.id) for event in made if event is not None]


def listed(cast: Cast, **query: Any) -> list[str]:
    reply = cast.client.get(PATH, query)
    assert reply.status_code == 200, reply.content
    return [event["id"] for event in reply.json()["data"]]


def test_an_event_is_shown_with_the_values_that_its_receiver_got(acme: Cast) -> None:
    with receiving() as receiver:
        acme.client.post("/v1/webhook-endpoints", {"url": receiver.url})
        question, video = ask(acme)
        finish(acme, question, video, text="長い答え")
        with sending():
            until(lambda: bool(receiver.received))
        (got,) = receiver.received

    (event,) = acme.client.get(PATH).json()["data"]

    assert event["id"] == got.headers["webhook-id"]
    assert event["object"] == "webhook_event"
    body = json.loads(got.body)
    del body["endpoint_sequence"]
    assert {name: event[name] for name in body} == body
    assert list(event["data"]) == list(body["data"]), "also their order"
    assert acme.client.get(f"{PATH}/{event['id']}").json() == event


def test_a_reader_goes_on_where_it_stopped(acme: Cast) -> None:
    first = emitted(acme, "video.ready", "video.failed", "video.ready")
    seen, query = [], {"sort": "created_at", "limit": 2}
    page = acme.client.get(PATH, query).json()
    seen += [event["id"] for event in page["data"]]
    later = emitted(acme, "video.deleted")

    while page["next_cursor"]:
        page = acme.client.get(PATH, query | {"cursor": page["next_cursor"]}).json()
        seen += [event["id"] for event in page["data"]]

    assert seen == [*first, *later]
    assert listed(acme) == [*reversed(seen)], "newest first by default"


def test_events_are_filtered_by_type_and_time(acme: Cast) -> None:
    ready, failed, other = emitted(acme, "video.ready", "video.failed", "video.ready")
    future = (timezone.now() + timedelta(hours=2)).isoformat()

    assert listed(acme, type="video.ready") == [other, ready]
    assert listed(acme, type="video.failed", created_until=future) == [failed]
    assert listed(acme, created_since=future) == []
    assert acme.client.get(PATH, {"type": "video.exploded"}).status_code == 400


def test_the_log_needs_the_scope_of_webhooks_and_shows_one_tenant(acme: Cast, globex: Cast) -> None:
    (mine,) = emitted(acme, "video.ready")
    with tenant_scope(acme.tenant_id):
        _, narrow = issue_api_key(name="reader", scopes=["videos:read"])
    client = acme.client
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {narrow}")

    assert [client.get(path).status_code for path in (PATH, f"{PATH}/{mine}")] == [403, 403]
    assert listed(globex) == []
    assert globex.client.get(f"{PATH}/{mine}").status_code == 404


def test_the_log_shows_answers_to_those_who_may_read_questions(acme: Cast) -> None:
    question, video = ask(acme)
    finish(acme, question, video, text="A man in a red coat.")
    with acme.scope():
        keys = {
            name: issue_api_key(name=name, scopes=["webhooks:write", *more])[1]
            for name, more in (("hooks", []), ("both", ["questions:read"]))
        }
    client, shown = acme.client, {}
    for name, key in keys.items():
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
        (event,) = client.get(PATH).json()["data"]
        assert client.get(f"{PATH}/{event['id']}").json() == event
        shown[name] = event

    assert shown["both"]["data"]["answer"] == "A man in a red coat."
    assert shown["hooks"]["data"] == {**shown["both"]["data"], "answer": "", "choice": None}
    assert {**shown["hooks"], "data": 0} == {**shown["both"], "data": 0}


def test_a_deleted_thing_leaves_no_text_in_the_log(acme: Cast) -> None:
    question, video = ask(acme)
    finish(acme, question, video, text="a red car")
    (id,) = listed(acme)
    with acme.scope():
        assert redact_events([question]) == 1

    assert acme.client.get(f"{PATH}/{id}").json()["data"]["answer"] == ""


def test_every_outcome_of_a_question_has_an_event(acme: Cast) -> None:
    outcomes: dict[UUID, str] = {}
    answered, video = ask(acme)
    finish(acme, answered, video)
    canceled, _ = ask(acme)
    assert acme.client.post(f"/v1/questions/{encode('qst', canceled)}/cancel").status_code == 200
    with acme.scope():
        outcomes = dict(WebhookEvent.objects.values_list("resource_id", "type"))

    assert outcomes == {answered: "question.completed", canceled: "question.canceled"}
