"""Budgets and limits over HTTP, and the reports of what came to a limit."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import override_settings

from backend.api import public_ids
from backend.billing.models import BillingAccount, Budget
from backend.jobs.models import Job, JobKind
from backend.tenancy.models import Tenant
from backend.webhooks.models import WebhookEvent
from backend.webhooks.notices import mail_about
from tests.billing.test_budgets import client_with
from tests.conftest import Cast
from tests.factories import make_video
from tests.isolation.test_catalog import superuser
from tests.webhooks.test_schemas import errors

NOTHING = {"charge": "0", "media_minutes": 0.0, "questions": 0, "open_jobs": 0, "stored_bytes": 0}
UNLIMITED = {
    "charge": None, "media_minutes": None, "questions": None, "open_jobs": None, "retries": None, "stored_bytes": None,
}  # fmt: skip
UPLOAD = {"filename": "a.mp4", "size_bytes": 1_000_000, "content_type": "video/mp4", "duration_ms": 60_000}


def asked(cast: Cast) -> None:
    with cast.scope():
        video = public_ids.encode("vid", make_video(indexed_until_ms=30_000).id)
    body = {"question": "Which car?", "video_ids": [video]}
    assert cast.client.post("/v1/questions", body, format="json").status_code == 202


def test_a_budget_is_set_listed_replaced_and_deleted(acme: Cast, globex: Cast) -> None:
    put = acme.client.put("/v1/budgets", {"charge": "1.5", "questions": 10}, format="json")
    key = public_ids.encode("key", acme.key_id)
    of_key = acme.client.put("/v1/budgets", {"api_key_id": key, "open_jobs": 3}, format="json")
    assert (put.status_code, of_key.status_code) == (200, 200)
    asked(acme)

    body = acme.client.get(f"/v1/budgets/{put.json()['id']}").json()

    assert body["limits"] == {**UNLIMITED, "charge": "1.5", "questions": 10}
    both = {
        name: float(body["used"][name]) + float(body["reserved"][name]) for name in ("charge", "questions", "open_jobs")
    }
    assert both == {"charge": 0.02, "questions": 1, "open_jobs": 1}
    assert body["left"] == {**UNLIMITED, "charge": "1.48", "questions": 9}
    assert body["currency"] == "USD"
    listed = acme.client.get("/v1/budgets").json()["data"]
    assert [row["api_key_id"] for row in listed] == [key, None]
    assert listed[1] == body
    # What is left out has no limit any more.
    assert acme.client.put("/v1/budgets", {"charge": "2"}, format="json").json()["limits"] == {
        **UNLIMITED,
        "charge": "2",
    }
    assert acme.client.get("/v1/budgets").json()["data"][1]["id"] == put.json()["id"]
    assert acme.client.delete(f"/v1/budgets/{put.json()['id']}").status_code == 204
    assert acme.client.get(f"/v1/budgets/{put.json()['id']}").status_code == 404
    assert globex.client.get("/v1/budgets").json()["data"] == []


def test_of_two_who_read_the_same_budget_one_replaces_it(acme: Cast) -> None:
    client = acme.client
    made = client.put("/v1/budgets", {"charge": "50", "open_jobs": 20})
    path = f"/v1/budgets/{made.json()['id']}"
    read = client.get(path).headers["ETag"]
    asked(acme)

    first = client.put("/v1/budgets", {"charge": "60"}, headers={"If-Match": read})
    second = client.put("/v1/budgets", {"charge": "70"}, headers={"If-Match": read})

    assert (first.status_code, second.status_code, second.json()["code"]) == (200, 412, "version_mismatch")
    assert client.get(path).json()["limits"]["charge"] == "60"
    assert client.delete(path, headers={"If-Match": read}).status_code == 412
    other = {"api_key_id": public_ids.encode("key", acme.key_id), "questions": 5}
    assert client.put("/v1/budgets", other, headers={"If-Match": read}).status_code == 412, "the key has no budget"
    assert client.put("/v1/budgets", {"charge": "80"}).status_code == 200, "without If-Match the last change counts"
    assert client.delete(path, headers={"If-Match": client.get(path).headers["ETag"]}).status_code == 204
    assert client.put("/v1/budgets", {"charge": "90"}, headers={"If-Match": read}).status_code == 412, "it is gone"
    assert not Budget.unscoped.using("console").exists()


def test_only_who_may_write_budgets_changes_them_and_only_for_keys_that_exist(acme: Cast, globex: Cast) -> None:
    asking = client_with(acme, "questions:write", "usage:read")
    assert asking.put("/v1/budgets", {"questions": 1}, format="json").status_code == 403
    assert asking.get("/v1/budgets").status_code == 200
    foreign = {"api_key_id": public_ids.encode("key", globex.key_id), "questions": 1}
    refused = acme.client.put("/v1/budgets", foreign, format="json")
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (400, "/api_key_id")
    negative = acme.client.put("/v1/budgets", {"charge": "-1"}, format="json")
    assert (negative.status_code, negative.json()["errors"][0]["pointer"]) == (400, "/charge")
    with acme.scope():
        assert not Budget.objects.exists()


@override_settings(
    MEDIA_MINUTES_PER_PLAN={"standard": 60.0},
    STORAGE_BYTES_PER_PLAN={"standard": 5e6},
    TOKENS_PER_PLAN={"standard": 1e3},
)
def test_the_limits_of_a_caller_are_those_of_plan_budget_and_key(acme: Cast) -> None:
    acme.client.put("/v1/budgets", {"questions": 10}, format="json")
    acme.client.put("/v1/budgets", {"api_key_id": public_ids.encode("key", acme.key_id), "open_jobs": 3}, format="json")
    assert acme.client.post("/v1/uploads", UPLOAD).status_code == 201

    body = acme.client.get("/v1/limits").json()

    assert (body["object"], body["plan"], body["currency"]) == ("limits", "standard", "USD")
    assert [tuple(row.values()) for row in body["limits"]] == [
        ("free_work", "plan", "1", "0", "0", "1"),
        ("media_minutes", "plan", "60", "0", "1", "59"),
        ("retries", "plan", "1000", "0", "0", "1000"),
        ("stored_bytes", "plan", "5000000", "0", "1000000", "4000000"),
        ("tokens", "plan", "1000", "0", "0", "1000"),
        ("questions", "tenant", "10", "0", "0", "10"),
        ("open_jobs", "api_key", "3", "0", "0", "3"),
    ]


@override_settings(MEDIA_MINUTES_PER_PLAN={"standard": 60.0})
def test_a_limit_of_the_plans_version_goes_before_the_default(acme: Cast, globex: Cast) -> None:
    with superuser() as connection:
        connection.execute(
            "INSERT INTO billing_planlimit (id, plan_version_id, name, amount) "
            "SELECT gen_random_uuid(), v.id, 'media_minutes', 2 FROM billing_planversion v "
            "JOIN billing_plan p ON p.id = v.plan_id WHERE p.code = 'standard'"
        )
        connection.commit()
    try:
        assert [acme.client.post("/v1/uploads", UPLOAD).status_code for _ in range(3)] == [201, 201, 402]
        # The tenant's own budget does not lift it.
        acme.client.put("/v1/budgets", {"media_minutes": 1_000}, format="json")
        assert acme.client.post("/v1/uploads", UPLOAD).status_code == 402
    finally:
        with superuser() as connection:
            connection.execute("DELETE FROM billing_planlimit")
            connection.commit()


def events(cast: Cast) -> list[dict[str, Any]]:
    with cast.scope():
        rows = WebhookEvent.objects.filter(type__in=("usage.threshold_reached", "budget.exceeded")).order_by("id")
        for row in rows:
            assert list(errors(row)) == []
        return [json.loads(row.body) for row in rows]


def test_each_threshold_is_reported_once_a_month(acme: Cast) -> None:
    budget = acme.client.put("/v1/budgets", {"questions": 10}, format="json").json()["id"]
    seen = []
    for _ in range(10):
        asked(acme)
        seen.append(len(events(acme)))
    # Below a threshold again, and on it once more.
    with acme.scope():
        from backend.questions.models import Question
        from backend.questions.services.questions import cancel_question

        cancel_question(question_id=Question.objects.order_by("-id")[0].id)
    asked(acme)

    assert seen == [0, 0, 0, 0, 1, 1, 1, 2, 2, 3]
    rows = events(acme)
    assert [(row["type"], row["data"]["limit"], row["data"]["used"], row["data"]["percent"]) for row in rows] == [
        ("usage.threshold_reached", "questions", "5", 50),
        ("usage.threshold_reached", "questions", "8", 80),
        ("budget.exceeded", "questions", "10", 100),
    ]
    assert {row["data"]["id"] for row in rows} == {budget}


@pytest.mark.parametrize("scope", ["plan", "tenant"])
def test_a_refusal_names_whose_limit_it_is(acme: Cast, scope: str) -> None:
    acme.client.put("/v1/budgets", {"media_minutes": "0.5" if scope == "tenant" else None}, format="json")
    with override_settings(MEDIA_MINUTES_PER_PLAN={"standard": 0.5 if scope == "plan" else 60.0}):
        refused = acme.client.post("/v1/uploads", UPLOAD).json()
    assert refused["code"] == {"plan": "plan_exhausted", "tenant": "budget_exhausted"}[scope]
    assert "media_minutes limit of 0.5" in refused["detail"]


@override_settings(EMAIL_HOST="mail.example.org")
def test_a_report_is_mailed_to_the_notice_address_and_to_who_is_billed(acme: Cast) -> None:
    acme.client.put("/v1/budgets", {"questions": 2}, format="json")
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(notice_email="ops@acme.example")
        BillingAccount.objects.create(tenant_id=acme.tenant_id, email="pay@acme.example")
    asked(acme)
    with acme.scope():
        job = Job.objects.get(kind=JobKind.SEND_NOTICE)
        mail = mail_about(job.subject_id)
    assert mail is not None
    assert mail.to == ["ops@acme.example", "pay@acme.example"]
    assert mail.subject == "questions: 50 % of the limit are used"
    assert "The limit questions of 2 is used to 50 %: 1 are booked" in mail.body
