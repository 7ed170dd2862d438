"""What operators do on the page of one row, with a reason, through the services that the API uses."""

from __future__ import annotations

import html
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from backend.api.public_ids import encode
from backend.billing.models import UsageEvent
from backend.jobs import breakers
from backend.jobs.models import Breaker, Job
from backend.library.models import SEGMENT_WANTED_AGAIN, IndexVersion, Segment, Video
from backend.questions.models import Question
from backend.staff.models import StaffEvent
from backend.webhooks.models import Attempt, Delivery, Endpoint
from backend.webhooks.services import create_endpoint, send_test
from tests.conftest import Cast
from tests.console.signing_in import appointed, open_content, staff_events
from tests.factories import make_video
from tests.questions.world import ask, finish

REASON = "Ticket 4711, asked by the customer"


@pytest.fixture
def staff(staff: Client, acme: Cast) -> Client:
    """An operator who has opened the content of acme."""
    assert open_content(staff, acme).status_code == 302
    return staff


def act(client: Client, page: str, row: UUID | str, verb: str, *, reason: str = REASON, **fields: Any) -> Any:
    named = {f"{verb}-{name}": value for name, value in fields.items()}
    return client.post(f"/console/{page}/{row}/act/", {"verb": verb, "reason": reason, **named}, follow=True)


def acts_of(cast: Cast) -> list[tuple[str, str, str]]:
    """What the tenant's own audit log shows that our staff did, without what they only opened."""
    events = [event for event in staff_events(cast) if not event["action"].endswith(("viewed", "content_opened"))]
    return [(event["action"], event["resource_id"], event["reason"]) for event in events]


def test_a_question_is_asked_again_with_another_method_and_is_not_charged(staff: Client, acme: Cast) -> None:
    question_id, video_id = ask(acme, choices=["blue car", "red car"])
    finish(acme, question_id, video_id)
    reply = act(staff, "questions/question", question_id, "ask_again", method="vector", effort="low")
    with acme.scope():
        copy = Question.objects.exclude(id=question_id).get()
        charges = UsageEvent.objects.filter(question_id=copy.id)
        assert list(charges.values_list("price_amount", "billable", "reason")) == [(0, False, "asked_by_operator")]
        assert copy.charge_amount == 0
    assert (copy.method, copy.effort, copy.status) == ("vector", "low", "queued")
    assert (copy.choices, copy.metadata) == (["blue car", "red car"], {"asked_again_of": encode("qst", question_id)})
    assert reply.redirect_chain[-1][0] == f"/console/questions/question/{copy.id}/change/"
    compared = staff.get(f"/console/questions/question/{question_id}/change/").content.decode()
    assert f"/console/questions/question/{copy.id}/change/" in compared
    assert acts_of(acme) == [("question.ask_again", encode("qst", question_id), REASON)]


def test_nothing_is_done_without_a_reason_or_with_fields_that_make_no_sense(staff: Client, acme: Cast) -> None:
    question_id, _ = ask(acme)
    assert "at least 10 characters" in act(staff, "questions/question", question_id, "cancel", reason="x").text
    reply = act(staff, "questions/question", question_id, "ask_again", method="guessing", effort="low")
    assert "Select a valid choice" in reply.text
    assert "There is no such act" in act(staff, "questions/question", question_id, "destroy").text
    with acme.scope():
        assert Question.objects.get().status == "queued"
    assert acts_of(acme) == []


@pytest.mark.parametrize("role", ["support", "support_content", "finance"])
def test_other_roles_are_refused(staff: Client, acme: Cast, role: str) -> None:
    question_id, _ = ask(acme)
    breakers.opened("describer", code="model_unavailable", message="no answer")
    other = appointed(role)
    with acme.scope():
        endpoint, _ = create_endpoint(url="https://example.com/hook")
        delivery = send_test(endpoint=endpoint)
        job = Job.objects.filter(subject_id=question_id).get()
    for page, row, verb in (
        ("questions/question", question_id, "cancel"),
        ("jobs/job", job.id, "cancel"),
        ("jobs/breaker", "describer", "close"),
        ("webhooks/endpoint", endpoint.id, "disable"),
        ("webhooks/delivery", delivery.id, "replay"),
    ):
        assert act(other, page, row, verb).status_code == 403, page
    with acme.scope():
        assert Question.objects.get().status == "queued"
        assert Endpoint.objects.get().state == "enabled"
    assert Breaker.objects.using("dispatch").get().state == "open"


def test_a_dependency_is_held_until_an_operator_closes_it(staff: Client, acme: Cast) -> None:
    breakers.opened("storage", code="connection", message="no answer")
    act(staff, "jobs/breaker", "storage", "hold", hours="2")
    row = Breaker.objects.using("dispatch").get()
    assert (row.state, row.error_code) == ("open", "held_by_operator")
    assert row.probe_at is not None
    assert timedelta(minutes=119) < row.probe_at - datetime.now(UTC) < timedelta(minutes=121)
    # A job that ran already and is answered does not end the hold, and none probes meanwhile.
    breakers.closed(["storage"])
    breakers.opened("storage", code="connection", message="no answer")
    assert [(outage.dependency, outage.ready) for outage in breakers.outages()] == [("storage", False)]
    act(staff, "jobs/breaker", "storage", "close")
    assert breakers.outages() == []
    noted = list(
        StaffEvent.objects.filter(action__startswith="breaker.").order_by("id").values_list("action", "details")
    )
    assert noted == [
        ("breaker.hold", {"row": "storage", "reason": REASON}), ("breaker.close", {"row": "storage", "reason": REASON}),
    ]  # fmt: skip


def test_a_delivery_is_replayed_and_shows_its_attempts(staff: Client, acme: Cast) -> None:
    with acme.scope():
        endpoint, _ = create_endpoint(url="https://example.com/hook")
        delivery = send_test(endpoint=endpoint)
        Delivery.objects.update(state="dead", attempts=1)
        Attempt.objects.create(
            tenant_id=acme.tenant_id, delivery=delivery, n=1, status_code=503, error_code="status_503", latency_ms=120,
            response_excerpt="out of order",
        )  # fmt: skip
    page = staff.get(f"/console/webhooks/delivery/{delivery.id}/change/").content.decode()
    assert html.unescape(page).count(delivery.event.body) == 1
    assert "out of order" in page
    act(staff, "webhooks/delivery", delivery.id, "replay")
    with acme.scope():
        row = Delivery.objects.get()
        assert (row.state, row.attempts_before) == ("pending", 1)
    assert acts_of(acme) == [("delivery.replay", encode("whd", delivery.id), REASON)]


def test_an_endpoint_is_disabled_enabled_and_gets_what_it_missed(staff: Client, acme: Cast) -> None:
    with acme.scope():
        endpoint, _ = create_endpoint(url="https://example.com/hook")
    since = (datetime.now(UTC) - timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M")
    act(staff, "webhooks/endpoint", endpoint.id, "disable")
    question_id, video_id = ask(acme)
    finish(acme, question_id, video_id)
    refused = act(staff, "webhooks/endpoint", endpoint.id, "replay_since", since=since)
    assert "Enable the endpoint" in refused.text
    act(staff, "webhooks/endpoint", endpoint.id, "enable")
    with acme.scope():
        assert not Delivery.objects.exists()
    act(staff, "webhooks/endpoint", endpoint.id, "replay_since", since=since)
    with acme.scope():
        assert list(Delivery.objects.values_list("event__type", flat=True)) == ["question.completed"]


def test_a_segment_that_did_not_fail_is_indexed_again(staff: Client, acme: Cast) -> None:
    with acme.scope():
        video = make_video(status="ready")
        IndexVersion.objects.filter(video_id=video.id).update(state="ready")
        if not IndexVersion.objects.filter(video_id=video.id).exists():
            IndexVersion.objects.create(tenant_id=acme.tenant_id, video_id=video.id, n=1, state="ready")
        for n in range(2):
            Segment.objects.create(
                tenant_id=acme.tenant_id, video=video, index_version=1, n=n, start_ms=n * 30_000,
                end_ms=n * 30_000 + 30_000, state="assembled",
            )  # fmt: skip
    assert "no such segment" in act(staff, "library/video", video.id, "retry_segment", n="7").text
    act(staff, "library/video", video.id, "retry_segment", n="1")
    with acme.scope():
        assert Video.objects.get().status == "indexing"
        assert dict(Segment.objects.values_list("n", "error_code")) == {0: "", 1: SEGMENT_WANTED_AGAIN}
        assert Job.objects.filter(kind="probe_video").count() == 1
    assert acts_of(acme) == [("video.retry_segment", encode("vid", video.id), REASON)]
