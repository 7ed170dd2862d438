"""What each role of the staff sees and does, and that every look at a tenant's content leaves a row."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone
from uuid6 import uuid7

from backend.api.public_ids import encode
from backend.billing.models import PriceBook
from backend.console.admin import site
from backend.staff.models import ContentAccess, StaffEvent
from backend.tenancy.models import Tenant
from tests.conftest import Cast
from tests.console.signing_in import open_content, staff_events, the_api
from tests.questions.world import ask, finish

WORK = {"library/video", "questions/question", "questions/search", "questions/comparison", "jobs/job", "jobs/breaker",
        "webhooks/delivery", "webhooks/endpoint", "tenancy/tenant"}  # fmt: skip
MONEY = {
    "billing/tenantbudget",
    "billing/usageevent",
    "billing/price",
    "billing/pricebook",
    "billing/plan",
    "billing/invoice",
    "billing/creditgrant",
    "billing/costday",
    "billing/coupon",
    "billing/legalentity",
    "billing/machineday",
    "billing/modelrate",
    "billing/exportstate",
    "billing/invariantresult",
    "tenancy/tenant",
}
EVERYTHING = {f"{model._meta.app_label}/{model._meta.model_name}" for model in site._registry}


def logged(cast: Cast) -> list[tuple[str, Any, str]]:
    """The tenant's own view of what our staff did, oldest first."""
    return [(event["action"], event["resource_id"], event["reason"]) for event in staff_events(cast)]


@pytest.fixture
def asked(acme: Cast) -> UUID:
    question_id, video_id = ask(acme)
    finish(acme, question_id, video_id)
    return question_id


@pytest.mark.parametrize(
    ("role", "pages"),
    [("support", WORK), ("support_content", WORK), ("finance", MONEY), ("operator", EVERYTHING)],
)
def test_each_role_opens_its_pages_and_no_other(staff_as: Any, acme: Cast, role: str, pages: set[str]) -> None:
    client = staff_as(role)

    opened = {page for page in EVERYTHING if client.get(f"/console/{page}/").status_code == 200}

    assert opened == pages
    assert client.get("/console/").status_code == 200
    may_price = client.get("/console/billing/price/add/").status_code == 200
    assert may_price == (role in ("finance", "operator"))


@pytest.mark.parametrize("role", ["support", "finance"])
def test_a_role_without_content_opens_nothing_whatever_the_reason(
    staff_as: Any, acme: Cast, asked: UUID, role: str
) -> None:
    client = staff_as(role)
    page = client.get(f"/console/questions/question/{asked}/change/", follow=True)
    reply = open_content(client, acme)

    assert page.status_code == 403
    assert "Which car?" not in page.content.decode()
    assert reply.status_code == 403
    assert not ContentAccess.objects.exists()
    assert logged(acme) == []


def test_content_opens_for_a_reason_and_each_object_is_in_the_tenants_log(
    staff_as: Any, acme: Cast, globex: Cast, asked: UUID
) -> None:
    client = staff_as("support_content")
    where = f"/console/questions/question/{asked}/change/"
    theirs, _ = ask(globex)

    closed = client.get(where)
    assert closed.status_code == 302
    assert closed.headers["Location"] == f"/console/open/{acme.tenant_id}/?next={where.replace('/', '%2F')}"
    assert open_content(client, acme, reason="curious").status_code == 400
    assert logged(acme) == []
    opened = open_content(client, acme, reason="Ticket 4711: wrong answer")
    page = client.get(where, REMOTE_ADDR="198.51.100.9")

    assert opened.status_code == 302
    assert "Which car?" in page.content.decode()
    assert logged(acme) == [
        ("tenant.content_opened", None, "Ticket 4711: wrong answer"),
        ("question.viewed", encode("qst", asked), "Ticket 4711: wrong answer"),
    ]
    assert client.get(f"/console/questions/question/{theirs}/change/").status_code == 302
    assert logged(globex) == []
    ContentAccess.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.get(where).status_code == 302
    assert len(logged(acme)) == 2


@pytest.mark.parametrize("query", ["", "?q=Which", "?q=car"])
def test_lists_neither_show_nor_search_content_of_a_tenant_that_was_not_opened(
    staff_as: Any, acme: Cast, globex: Cast, asked: UUID, query: str
) -> None:
    client = staff_as("support_content")
    ask(globex)

    page = client.get(f"/console/questions/question/{query}").content.decode()

    assert "Which car?" not in page
    if query:
        assert str(asked) not in page
    open_content(client, acme)
    both, mine, theirs = (
        client.get(f"/console/questions/question/{'?tenant=' + str(tenant) if tenant else ''}").content.decode()
        for tenant in ("", acme.tenant_id, globex.tenant_id)
    )
    assert ("Which car?" in both, "Which car?" in mine, "Which car?" in theirs) == (False, True, False)


def test_an_operator_suspends_a_tenant_for_a_reason_and_support_cannot(staff_as: Any, acme: Cast) -> None:
    def act(client: Client, action: str, reason: str) -> None:
        form = {"action": action, "_selected_action": [str(acme.tenant_id)], "reason": reason}
        assert client.post("/console/tenancy/tenant/", form, follow=True).status_code == 200

    def suspended() -> bool:
        return Tenant.objects.using("console").get(id=acme.tenant_id).suspended_at is not None

    support, operator = staff_as("support"), staff_as("operator")
    act(support, "suspend", "because I can do it")
    assert not suspended()
    act(operator, "suspend", "")
    assert not suspended()
    act(operator, "suspend", "Stolen keys, ticket 12")
    assert suspended()
    with the_api():
        assert acme.client.get("/v1/videos").status_code == 401
    act(operator, "resume", "New keys, ticket 12")

    assert not suspended()
    assert [(action, reason) for action, _, reason in logged(acme)] == [
        ("tenant.suspended", "Stolen keys, ticket 12"), ("tenant.resumed", "New keys, ticket 12"),
    ]  # fmt: skip


def test_a_job_that_staff_opens_is_in_the_log_without_a_reason(staff_as: Any, acme: Cast, asked: UUID) -> None:
    from backend.jobs.models import Job

    job = Job.unscoped.using("console").get(subject_id=asked)
    assert staff_as("support").get(f"/console/jobs/job/{job.id}/change/").status_code == 200

    assert logged(acme) == [("job.viewed", encode("job", job.id), "")]


def test_a_price_is_in_the_log_of_the_staff(staff_as: Any) -> None:
    start = timezone.now() + timedelta(days=1)
    form = {"book": str(PriceBook.objects.get(kind="cost").id), "meter": "output_tokens", "model": f"logged-{uuid7()}",
            "unit_amount": "1", "note": "Agreed with sales", "effective_from_0": f"{start:%Y-%m-%d}",
            "effective_from_1": "00:00:00"}  # fmt: skip
    assert staff_as("finance").post("/console/billing/price/add/", form).status_code == 302

    event = StaffEvent.objects.get(action="price.appended")
    assert (event.email, event.details["reason"]) == ("finance@example.org", "Agreed with sales")
