"""The console: who may sign in, what every page shows across tenants, and that nothing can be changed."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model
from django.db import DatabaseError, connections
from django.test import Client
from django.utils import timezone
from uuid6 import uuid7

from backend.api.public_ids import encode
from backend.billing.models import Coupon, ExportState, InvariantResult, Invoice, MachineDay, Price, PriceBook
from backend.billing.services.credit.credit_grants import grant_credit
from backend.billing.services.limits.budgets import Limits
from backend.billing.services.machines.device_time import append_rate
from backend.billing.services.machines.reconciliation import reconcile_day
from backend.billing.services.usage import ledger as billing
from backend.billing.services.usage import rollups
from backend.console.admin import site
from backend.console.answers.search_tree import tree_of
from backend.console.queries import feedback as verdicts
from backend.ekg.models import Overview
from backend.jobs import breakers
from backend.jobs.models import Job
from backend.library.models import IndexVersion, InputSegment
from backend.library.services import input_segments as growth
from backend.questions.models import Comparison, Node, Question
from backend.questions.services import batches, feedback, searches
from backend.questions.services import questions as services
from backend.webhooks.models import Delivery, Endpoint
from backend.webhooks.services import create_endpoint
from gpu_workers.engine.answering.contract import CitationRecord, ClaimRecord, NodeRecord
from gpu_workers.engine.models.device_rates import DeviceRate
from tests.conftest import Cast
from tests.console.signing_in import open_content
from tests.factories import make_video, set_limits
from tests.questions.world import EVENT, ask, finish


@pytest.fixture
def staff(staff: Client, acme: Cast, globex: Cast) -> Client:
    """An operator who has opened the content of both tenants."""
    for cast in (acme, globex):
        assert open_content(staff, cast).status_code == 302
    return staff


@pytest.fixture
def story(acme: Any, globex: Any) -> tuple[UUID, UUID]:
    """Make an answered and a failed question and a webhook of acme, and a canceled question of globex.

    Returns the ids of the answered question and of its video.
    """
    breakers.opened("describer", code="model_unavailable", message="no answer")
    with acme.scope():
        create_endpoint(url="https://example.com/hook")
        Comparison.objects.create(tenant_id=acme.tenant_id, name="Nothing asked", total=0)
    question_id, video_id = ask(acme, choices=["blue car", "red car"])
    finish(acme, question_id, video_id)
    failed, _ = ask(acme)
    other, _ = ask(globex)
    with acme.scope():
        searches.create_search(text="a red van", video_ids=[video_id])
        services.fail_question(question_id=failed, code="model_unavailable", message="No model.")
        set_limits(Limits(max_cost=Decimal("12.5")))
        ExportState.objects.create(tenant_id=acme.tenant_id, sink="stripe", subject="usage")
        grant_credit(amount=Decimal(5), currency="USD", reason="sorry", author="x@example.org")
        billing.record_media_seconds(segment_id=uuid7(), video_id=video_id, seconds=Decimal(60))
    with globex.scope():
        services.cancel_question(question_id=other)
    Coupon.objects.using("staff").create(code="SPRING-25", percent=25, author="finance@example.org")
    MachineDay.objects.using("staff").create(
        day=timezone.now().date(), machine="g6", hours=24, usd_per_hour=1, author="finance@example.org"
    )
    rate = DeviceRate(fresh_us=40, cached_us=1, output_us=900)
    append_rate("qwen", rate, author="finance@example.org", note="measured", using="staff")
    InvariantResult.objects.using("dispatch").create(
        name="rollups_equal_the_ledger", checked_at=timezone.now(), violations=0
    )
    reconcile_day(date(2026, 3, 1))
    return question_id, video_id


def text(client: Client, path: str) -> str:
    reply = client.get(f"/console/{path}")
    assert reply.status_code == 200, path
    return reply.content.decode()


def test_strangers_and_people_without_staff_rights_see_the_sign_in_page_only(database: None) -> None:
    get_user_model().objects.create_user("visitor@example.org", password="word")
    visitor = Client()
    visitor.login(username="visitor@example.org", password="word")
    for client in (Client(), visitor):
        for path in ("", "questions/question/", "jobs/job/", "billing/price/add/"):
            reply = client.get(f"/console/{path}")
            assert reply.status_code == 302
            assert reply.headers["Location"].startswith("/console/login/")


def test_the_dashboard_shows_money_latency_failures_and_both_tenants(
    staff: Client, story: Any, acme: Any, globex: Any
) -> None:
    for cast in (acme, globex):
        rollups.rebuild_stale(cast.tenant_id)
    page = text(staff, "")

    # One answered question at 0.02 and one minute of media at 0.042; failed and canceled questions cost nothing.
    assert "$0.0620" in page
    for words in ("model_unavailable", "end to end", "gpu.query", "io.webhook", "Acme", "Globex"):
        assert words in page


def test_an_empty_console_is_a_page_too(staff_as: Any) -> None:
    client = staff_as("finance")
    assert "No tenant used anything in this span." in text(client, "?days=30")
    assert "7 days" in text(client, "?days=nonsense")


def test_a_question_is_shown_with_its_search_evidence_and_cost(staff: Client, story: tuple[UUID, UUID]) -> None:
    page = text(staff, f"questions/question/{story[0]}/change/")

    for words in ("Which car?", "red car ✓", "A red car parks.", "car colour", "agreement 0.50", "$0.0002711", "qwen"):
        assert words in page


def test_a_question_is_shown_with_its_feedback_and_its_batch(staff: Client, acme: Any) -> None:
    with acme.scope():
        video = make_video(indexed_until_ms=30_000)
        fields = {"choices": ["blue car", "red car"], "video_ids": [video.id]}
        batch = batches.create_batch(
            questions=[{"text": f"Which car {n}?", **fields} for n in range(3)], external_id="exam-7"
        )
        second = Question.objects.get(batch=batch, batch_position=1)
    alone, _ = ask(acme, text="Another question?")
    with acme.scope():
        feedback.give_feedback(
            question=finish(acme, second.id, video.id),
            verdict="wrong",
            correct_choice=0,
            note="It was dark.",
            person_id=UUID(int=7),
        )
    page = text(staff, f"questions/question/{second.id}/change/")

    by = f"by {encode('per', UUID(int=7))}"
    for words in ("wrong", "choice A", "It was dark.", by, "exam-7", "number 2 of 3", "2 queued", "1 succeeded"):
        assert words in page
    other = text(staff, f"questions/question/{alone}/change/")
    assert "exam-7" not in other
    assert "Feedback" not in other
    listed = text(staff, f"questions/question/?batch__exact={batch.id}&tenant={acme.tenant_id}")
    assert (listed.count("Which car"), listed.count("Another question?")) == (3, 0)
    judged = text(staff, f"questions/question/?feedback=wrong&tenant={acme.tenant_id}")
    assert (judged.count("Which car 1?"), judged.count("Which car 0?")) == (1, 0)


def test_the_dashboard_shows_how_well_confidence_fits_what_customers_say(staff: Client, acme: Any, globex: Any) -> None:
    said = [(acme, 0.9, "right"), (acme, 0.8, "right"), (globex, 1.0, "wrong"), (acme, 0.6, "right"),
            (acme, 0.59, "wrong"), (acme, 0.0, "wrong"), (acme, None, "wrong"), (acme, 0.7, None)]  # fmt: skip
    for cast, confidence, verdict in said:
        question_id, video_id = ask(cast)
        answered = finish(cast, question_id, video_id, confidence=confidence)
        with cast.scope():
            if verdict:
                feedback.give_feedback(question=answered, verdict=verdict)
    page = text(staff, "")

    since = timezone.now() - timedelta(days=1)
    bands = [(band.name, band.judged, band.right) for band in verdicts.calibration(since)]
    assert bands == [
        ("0.8 to 1.0", 3, 2), ("0.6 to 0.8", 1, 1), ("0.4 to 0.6", 1, 0), ("0.0 to 0.2", 1, 0), ("none given", 1, 0),
    ]  # fmt: skip
    assert verdicts.calibration(since)[0].confidence == pytest.approx(0.9)
    assert "43 % of 7 judged answers were right" in page
    assert "67 %" in page
    assert verdicts.calibration(timezone.now() + timedelta(days=1)) == []
    assert verdicts.right_percent([]) is None


def test_a_video_is_shown_with_its_cost(staff: Client, story: tuple[UUID, UUID]) -> None:
    page = text(staff, f"library/video/{story[1]}/change/")

    assert "$0.0420" in page
    assert "Not segmented yet." in page


def test_a_growing_video_is_shown_with_its_input_versions_and_summary(staff: Client, acme: Any) -> None:
    with acme.scope():
        video = growth.begin(fields={"title": "Gate"})
        of = {"tenant_id": acme.tenant_id, "video_id": video.id}
        InputSegment.objects.create(
            **of, n=0, status="ready", start_ms=0, duration_ms=10_400, container="mpegts", codec="h264"
        )
        InputSegment.objects.create(
            **of, n=1, status="failed", error_code="not_a_video", url="https://cam.example/s?key=1"
        )
        IndexVersion.objects.create(**of, n=2, state="failed", error_code="model_unavailable")
        Overview.objects.create(**of, index_version=1, text="A gate opens.", model="narrator-x")
    page = text(staff, f"library/video/{video.id}/change/")

    for words in ("segments, open", "mpegts / h264", "not_a_video", "model_unavailable", "A gate opens.", "narrator-x"):
        assert words in page
    assert "key=1" not in page, "a customer's signature is nobody's to read"


PAGES = [model for model in site._registry if model is not Invoice]


def test_every_list_and_detail_opens_filters_and_refuses_change(staff: Client, story: Any) -> None:
    for model in PAGES:
        where = f"{model._meta.app_label}/{model._meta.model_name}/"
        text(staff, where)
        text(staff, f"{where}?q={uuid7()}")
        rows: Any = getattr(model, "unscoped", model._default_manager).using("console")
        row = rows.first()
        assert row is not None, where
        text(staff, f"{where}{row.pk}/change/")
        for path in (f"{row.pk}/change/", f"{row.pk}/delete/"):
            reply = staff.post(f"/console/{where}{path}", {"kind": "x", "name": "x"})
            assert reply.status_code in {200, 403}, path
        assert rows.filter(pk=row.pk).values().get() == {
            field.attname: getattr(row, field.attname) for field in model._meta.concrete_fields
        }
        assert staff.get(f"/console/{where}add/").status_code == (200 if model is Price else 403), where
        assert staff.get(f"/console/{where}nonsense/change/").status_code in {302, 404}, where
    for special in ("jobs/job/?lease=stuck", "jobs/job/?lease=held", "webhooks/delivery/?event=video.ready"):
        text(staff, special)


def test_a_list_can_be_narrowed_to_one_tenant(staff: Client, story: Any, globex: Any) -> None:
    page = text(staff, f"questions/question/?tenant={globex.tenant_id}")

    assert page.count("Which car?") == 1


def test_a_tenants_budget_is_shown(staff: Client, story: Any, acme: Any) -> None:
    page = text(staff, f"billing/tenantbudget/?tenant={acme.tenant_id}")

    assert "Acme" in page
    assert "$12.50" in page


def test_a_stuck_lease_is_found(staff: Client, story: Any, acme: Any) -> None:
    with acme.scope():
        Job.objects.filter(kind="deliver_webhook").update(
            state="running", lease_owner="w-1", lease_until=timezone.now() - timedelta(seconds=5)
        )
    assert "w-1" in text(staff, "jobs/job/?lease=stuck")


def test_secrets_are_not_shown(staff: Client, story: Any) -> None:
    endpoint = Endpoint.unscoped.using("console").get()
    page = text(staff, f"webhooks/endpoint/{endpoint.id}/change/")

    assert "secret" not in page
    assert Delivery.unscoped.using("console").exists()


def test_a_price_is_appended_and_its_predecessor_stays(staff: Client) -> None:
    model = f"model-{uuid7()}"
    start = (timezone.now() + timedelta(days=1)).replace(microsecond=0)
    form = {
        "book": str(PriceBook.objects.get(kind="cost").id), "meter": "output_tokens", "model": model, "variant": "",
        "unit_amount": "0.000002", "note": "list price",
        "effective_from_0": f"{start:%Y-%m-%d}", "effective_from_1": f"{start:%H:%M:%S}",
    }  # fmt: skip
    before = Price.objects.count()
    assert staff.post("/console/billing/price/add/", form).status_code == 302

    row = Price.objects.get(model=model)
    assert (row.unit_amount, row.version, row.effective_from) == (Decimal("0.000002"), 1, start)
    assert row.author
    assert Price.objects.count() == before + 1
    refused = staff.post("/console/billing/price/add/", {**form, "effective_from_0": "2026-01-01"})
    assert refused.status_code == 200
    assert "must take effect after" in refused.content.decode()
    assert Price.objects.count() == before + 1


def test_the_console_role_cannot_write(story: Any) -> None:
    with pytest.raises(DatabaseError, match="permission denied"), connections["console"].cursor() as cursor:
        cursor.execute("UPDATE questions_question SET answer = 'x'")
    assert Question.unscoped.using("console").filter(answer="x").count() == 0


def test_the_tree_nests_nodes_by_path_and_places_them_in_time() -> None:
    def node(path: str, started: int, wall: int) -> tuple[Node, list[Any]]:
        return Node(path=path, depth=len(path.split("/")) if path else 0, ordinal=0, action=path[-2:] or "root",
                    wall_ms=wall, score=0.5, started_ms=started), []  # fmt: skip

    roots = tree_of(
        [node("", 0, 10), node("F/SA", 50, 50), node("RQ", 10, 40), node("F", 10, 10), node("B/F/SA", 0, 0)]
    )

    assert [root.node.path for root in roots] == [""]
    assert sorted(child.node.path for child in roots[0].children) == ["B/F/SA", "F", "RQ"]
    forward = next(child for child in roots[0].children if child.node.path == "F")
    assert [(child.node.path, child.left, child.width) for child in forward.children] == [("F/SA", 50.0, 50.0)]


def test_a_question_is_shown_with_its_claims_and_what_an_inspection_did(staff: Client, acme: Any) -> None:
    question_id, video_id = ask(acme)
    cited = CitationRecord(video_id, EVENT, 3_000, 9_000, None, None, "A red car parks.", "supported", (0,), 0.6)
    finish(
        acme,
        question_id,
        video_id,
        citations=(cited,),
        claims=(ClaimRecord("The car is red.", "supported", (0,)), ClaimRecord("It hoots.", "contradicted", ())),
        nodes=(
            NodeRecord("", 0, "root"),
            NodeRecord("SA", 1, "SA", answer="a red car"),
            NodeRecord("IN", 1, "IN", error="nothing_to_look_at"),
            NodeRecord("IN/IN", 2, "IN", answer="a red car"),
        ),
    )
    unclaimed, other_video = ask(acme)
    finish(acme, unclaimed, other_video)

    page = text(staff, f"questions/question/{question_id}/change/")

    for words in ("The car is red.", "It hoots.", "contradicted", "evidence 1", "nothing_to_look_at"):
        assert words in page
    assert "Claims" not in text(staff, f"questions/question/{unclaimed}/change/")
