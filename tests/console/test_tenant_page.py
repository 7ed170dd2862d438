"""The page of a tenant and what staff may do there: each act for a reason, recorded, and refused to other roles."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client, override_settings
from django.utils import timezone

from backend.api.public_ids import encode
from backend.audit.models import AuditEvent
from backend.billing.models import (
    BillingAccount,
    CouponRedemption,
    CreditGrant,
    Invoice,
    Price,
    QuotaMonth,
    Reservation,
    Subscription,
)
from backend.billing.rating import Allowance
from backend.billing.services.credit.coupons import NewCoupon, create_coupon
from backend.billing.services.credit.credit_grants import grant_credit
from backend.billing.services.invoicing.overdue import remind
from backend.billing.services.limits.budgets import Limits, limits
from backend.billing.services.limits.own_budgets import set_budget
from backend.billing.services.plans import NewPlanVersion, append_plan_version, subscribe
from backend.billing.services.usage.ledger import record_model_calls
from backend.console.acting.tenant_acts import ACTS, ThrottleForm
from backend.console.queries import billing, latency
from backend.console.tenant_limits import of_budgets
from backend.jobs.models import Job, JobKind
from backend.jobs.services import enqueue
from backend.library.indexing.failure import fail_version
from backend.library.models import InputSegment, Video
from backend.people.models import Invitation, Membership, Person
from backend.questions.models import Question
from backend.questions.queries.stage_times import WHOLE
from backend.tenancy.models import ApiKey, Tenant
from gpu_workers.engine.models.roles import ModelCall
from tests.billing.invoices.ledger import close, use
from tests.billing.invoices.test_overdue import due
from tests.conftest import Cast
from tests.console.furnished import unpaid_invoice
from tests.console.signing_in import staff_events, the_api
from tests.console.test_overview import book, rebuild
from tests.factories import make_video, set_limits
from tests.questions.world import CALLS, ask, finish

REASON = "Ticket 4711, agreed with sales"


def page_of(cast: Cast) -> str:
    return f"/console/tenancy/tenant/{cast.tenant_id}/change/"


def act(client: Client, cast: Cast, name: str, **values: Any) -> Any:
    return client.post(f"/console/tenancy/tenant/{cast.tenant_id}/act/{name}/", {"reason": REASON, **values})


def acts_of(cast: Cast) -> list[tuple[str, str]]:
    """What the tenant's own log shows that staff did, without what they opened."""
    events = [(event["action"], event["reason"]) for event in staff_events(cast)]
    return [event for event in events if event[0] != "tenant.viewed"]


def test_the_page_shows_usage_money_members_keys_and_failures(staff: Client, acme: Cast, globex: Cast) -> None:
    now = timezone.now()
    book(acme, now, "2.5", "10", stage="rank", model="m")
    book(acme, now, "0.5", "0", meter="media_seconds", quantity=Decimal(600))
    book(globex, now, "70", "80")
    for cast in (acme, globex):
        rebuild(cast)
    person = Person.objects.create_user("bob@example.org")
    with acme.scope():
        Membership.objects.create(tenant_id=acme.tenant_id, person=person, role="owner")
        grant_credit(amount=Decimal(25), currency="EUR", reason="sorry", author="x@example.org")
        fail_version(video_id=make_video().id, version=1, code="worker_lost", message="x")
    page = staff.get(page_of(acme)).content.decode()

    for words in ("$10.00", "$3.00", "$7.00", "70 % of revenue", "bob@example.org", "owner", "worker_lost", "25.00 EUR",
                  "media minutes", "vk_live_"):  # fmt: skip
        assert words in page, words
    assert "$80" not in page
    assert acme.key not in page


def test_the_page_shows_the_budgets_of_each_key_with_what_open_work_reserves(
    staff: Client, acme: Cast, globex: Cast
) -> None:
    now = timezone.now()
    for cast in (acme, globex):
        with cast.scope():
            set_budget(api_key_id=None, limits={"questions": 200})
            set_budget(api_key_id=cast.key_id, limits={"charge": Decimal(5), "open_jobs": 4})
            QuotaMonth.objects.create(
                tenant_id=cast.tenant_id, month=now.date().replace(day=1), api_key_id=cast.key_id, charge=Decimal("1.5")
            )
            Reservation.objects.create(
                tenant_id=cast.tenant_id, kind="questions", amount=1, charge=Decimal("0.25"), api_key_id=cast.key_id,
                source_type="question", source_id=uuid4(), expires_at=now + timedelta(hours=1),
            )  # fmt: skip

    lines = of_budgets(acme.tenant_id)

    with acme.scope():
        name = ApiKey.objects.get(id=acme.key_id).name
    shown = [(line.whose, line.name, line.used, line.reserved, line.limit, line.percent) for line in lines]
    assert shown == [
        ("", "questions", Decimal(1), Decimal(1), Decimal(200), 0.5),
        (name, "charge", Decimal("1.75"), Decimal("0.25"), Decimal(5), 35.0),
        (name, "open_jobs", Decimal(1), Decimal(1), Decimal(4), 25.0),
    ]
    page = staff.get(page_of(acme)).content.decode()
    assert "Its own budgets" in page
    assert "35 %" in page


def test_the_page_shows_how_long_this_tenants_questions_took(staff: Client, acme: Cast, globex: Cast) -> None:
    now = timezone.now()
    for cast, ms in ((acme, 4_000), (globex, 90_000)):
        question_id, video_id = ask(cast)
        finish(cast, question_id, video_id)
        with cast.scope():
            Question.objects.filter(id=question_id).update(timings={"total_ms": ms})

    measured = latency.question_latency(now - timedelta(days=1), bucket="day", tenant_id=acme.tenant_id)

    assert [(line.stage, line.n, line.p99) for line in measured.stages] == [(WHOLE, 1, 4_000)]
    assert "Time to answer" in staff.get(page_of(acme)).content.decode()


@pytest.mark.parametrize(
    ("role", "seen", "hidden"),
    [
        ("support", ("Webhooks", "Failures"), ("Revenue", "Invoices", "/act/")),
        ("finance", ("Revenue", "/act/credit/", "/act/plan/"), ("API keys", "/act/erase/", "/act/suspend/")),
        ("operator", ("Revenue", "API keys", "/act/erase/", "/act/credit/", "/act/suspend/"), ("/act/resume/",)),
    ],
)
def test_each_role_sees_its_part(staff_as: Any, acme: Cast, role: str, seen: Any, hidden: Any) -> None:
    page = staff_as(role).get(page_of(acme)).content.decode()

    assert [words for words in seen if words not in page] == []
    assert [words for words in hidden if words in page] == []


def test_an_act_is_refused_to_other_roles_and_without_a_reason(staff_as: Any, acme: Cast) -> None:
    before = Tenant.objects.using("console").filter(id=acme.tenant_id).values().get()
    browsers = {role: staff_as(role) for role in ("support", "support_content", "finance", "operator")}
    values = {"slug": acme.slug, "plan": "standard", "amount": "1", "currency": "USD", "percent": "19", "code": "X",
              "max_cost": "1"}  # fmt: skip
    for name in sorted(ACTS):
        for role in {"support", "support_content", "finance"} - set(ACTS[name].roles):
            assert act(browsers[role], acme, name).status_code == 403, (name, role)
        page = browsers["operator"].get(f"/console/tenancy/tenant/{acme.tenant_id}/act/{name}/")
        assert page.status_code == 200, name
        assert act(browsers["operator"], acme, name, reason="short", **values).status_code == 400, name
    assert act(browsers["operator"], acme, "nonsense").status_code == 404

    assert Tenant.objects.using("console").filter(id=acme.tenant_id).values().get() == before
    assert not CreditGrant.unscoped.using("console").exists()
    assert acts_of(acme) == []


def test_finance_grants_credit_and_changes_the_plan(staff_as: Any, acme: Cast) -> None:
    append_plan_version(NewPlanVersion("pro", "standard", timezone.now(), "finance@example.org"), using="staff")
    client = staff_as("finance")
    expires = (timezone.now() + timedelta(days=90)).date()
    granted = act(client, acme, "credit", amount="12.50", currency="EUR", expires_on=expires.isoformat())
    refused = act(client, acme, "credit", amount="1.005", currency="EUR")
    changed = act(client, acme, "plan", plan="pro")
    same = act(client, acme, "plan", plan="pro")

    assert [reply.status_code for reply in (granted, refused, changed, same)] == [302, 400, 302, 400]
    with acme.scope():
        grant = CreditGrant.objects.get()
        assert (grant.amount, grant.currency, grant.author) == (Decimal("12.5"), "EUR", "finance@example.org")
        assert grant.expires_at is not None
        assert grant.expires_at.date() == expires
        assert Subscription.objects.get(effective_to=None).plan_version.plan.code == "pro"
    assert acts_of(acme) == [("tenant.credit_granted", REASON), ("tenant.plan_changed", REASON)]


def test_finance_sets_the_tax_and_the_next_invoice_has_it(staff_as: Any, acme: Cast, globex: Cast) -> None:
    client = staff_as("finance")
    assert act(client, acme, "tax", percent="19").status_code == 302
    refused = [act(client, acme, "tax", percent=wrong).status_code for wrong in ("100", "-1", "7.0001", "NaN", "")]

    assert refused == [400] * 5
    with acme.scope():
        event = AuditEvent.objects.get(action="tenant.tax_rate_set")
    assert (event.reason, event.details) == (REASON, {"from": "0", "to": "0.19"})
    assert "19 % tax" in client.get(page_of(acme)).content.decode()
    use(acme, timezone.now().replace(day=1, hour=12) - timedelta(days=10), 340)
    (invoice,) = close(acme, timezone.now().replace(day=1) + timedelta(days=20))
    with acme.scope():
        row = Invoice.objects.get(id=invoice)
    assert (row.tax_rate, row.tax) == (Decimal("0.19"), (row.subtotal * Decimal("0.19")).quantize(Decimal("0.01")))
    assert act(client, acme, "tax", percent="0").status_code == 302
    with acme.scope():
        assert Invoice.objects.get(id=invoice).tax == row.tax
    with globex.scope():
        assert not BillingAccount.objects.exists()


def test_overdue_invoices_are_on_the_overview_and_on_the_page_of_their_tenant(
    staff_as: Any, acme: Cast, globex: Cast
) -> None:
    finance = staff_as("finance")
    invoice = unpaid_invoice(acme)
    number = billing.overdue
    assert (number(acme.tenant_id), "Overdue:" in finance.get(page_of(acme)).content.decode()) == ([], False)
    before = sum(line["n"] for line in number())
    due(invoice, -timedelta(hours=1))

    remind(acme.tenant_id)
    first = finance.get(page_of(acme)).content.decode()
    due(invoice, -timedelta(days=15))
    remind(acme.tenant_id)
    last = finance.get(page_of(acme)).content.decode()

    (line,) = number(acme.tenant_id)
    with acme.scope():
        assert (line["currency"], line["n"], line["due"]) == ("USD", 1, Invoice.objects.get().due)
    assert sum(line["n"] for line in number()) == before + 1
    assert "1 invoice</a> of $6.80" in first
    assert ("consider suspending" in first, "consider suspending" in last) == (False, True)
    assert "Overdue:" not in finance.get(page_of(globex)).content.decode()
    assert "?overdue=yes" in finance.get("/console/").content.decode()
    assert "?overdue=yes" not in staff_as("support").get("/console/").content.decode()


def test_finance_sets_the_note_on_the_tax_and_a_note_that_contradicts_it_is_refused(staff_as: Any, acme: Cast) -> None:
    client = staff_as("finance")

    refused = [
        act(client, acme, "tax", percent="19", note="reverse_charge", text=""),
        act(client, acme, "tax", percent="0", note="text", text=""),
        act(client, acme, "tax", percent="0", note="exempt", text="Exempt under section 4 no. 8"),
    ]
    with acme.scope():
        assert not BillingAccount.objects.exists()
    made = act(client, acme, "tax", percent="0", note="text", text="Exempt under section 4 no. 8")

    assert [reply.status_code for reply in refused] == [400] * 3
    assert made.status_code == 302
    with acme.scope():
        event = AuditEvent.objects.get(action="tenant.tax_rate_set")
        assert BillingAccount.objects.get().tax_note == "Exempt under section 4 no. 8"
    assert event.details["note_to"] == "Exempt under section 4 no. 8"
    assert "(Exempt under section 4 no. 8)" in client.get(page_of(acme)).content.decode()


def test_finance_sets_the_ceiling_of_cost_and_keeps_the_tenants_own_limits(staff_as: Any, acme: Cast) -> None:
    with acme.scope():
        set_limits(Limits(max_tokens=500))
    client = staff_as("finance")

    assert act(client, acme, "ceiling", max_cost="12.5").status_code == 302
    assert "$12.50 a month" in client.get(page_of(acme)).content.decode()
    with acme.scope():
        assert limits() == Limits(max_tokens=500, max_cost=Decimal("12.5"))
    assert act(client, acme, "ceiling", max_cost="").status_code == 302

    with acme.scope():
        assert limits() == Limits(max_tokens=500)
        details = AuditEvent.objects.filter(action="tenant.cost_ceiling_set").order_by("id").values_list("details")
        assert [line for (line,) in details] == [{"from": None, "to": "12.5"}, {"from": "12.5", "to": None}]


def test_finance_grants_a_coupon_once(staff_as: Any, acme: Cast) -> None:
    code = f"TRY-{uuid4().hex[:8].upper()}"
    create_coupon(NewCoupon(code, "finance@example.org", percent=Decimal(10)), using="staff")
    client = staff_as("finance")

    granted, again, unknown = (act(client, acme, "coupon", code=name) for name in (code, code, "NOBODY"))

    assert [reply.status_code for reply in (granted, again, unknown)] == [302, 400, 400]
    with acme.scope():
        assert CouponRedemption.objects.get().coupon_code == code
    assert acts_of(acme) == [("tenant.coupon_granted", REASON)]


def test_an_operator_suspends_and_resumes(staff: Client, acme: Cast) -> None:
    assert act(staff, acme, "suspend").status_code == 302
    assert act(staff, acme, "suspend").status_code == 400
    assert "Suspended since" in staff.get(page_of(acme)).content.decode()
    assert act(staff, acme, "resume").status_code == 302

    assert acts_of(acme) == [("tenant.suspended", REASON), ("tenant.resumed", REASON)]


def test_the_dearest_videos_lead_to_their_pages(staff_as: Any, acme: Cast, globex: Cast) -> None:
    now = timezone.now()
    with acme.scope():
        ids = [make_video().id for _ in range(3)]
    for video_id, cost, meter, seconds in (
        (ids[0], "1.5", "device_seconds", 9), (ids[1], "2.25", "device_seconds", 9), (ids[1], "0", "media_seconds", 90),
        (ids[2], "0", "media_seconds", 60),
    ):  # fmt: skip
        book(acme, now, cost, "0", video_id=video_id, meter=meter, quantity=Decimal(seconds), stage=f"s{seconds}")
    book(acme, now - timedelta(days=40), "99", "0", video_id=ids[2], meter="device_seconds")
    book(globex, now, "50", "0", video_id=ids[2], meter="device_seconds")
    for cast in (acme, globex):
        rebuild(cast)

    def shown(role: str) -> str:
        page: str = staff_as(role).get(page_of(acme)).content.decode()
        return page[page.index("Dearest videos") :].split("</section>")[0]

    table = shown("operator")
    assert re.findall(r"/console/library/video/([^/]+)/change/", table) == [str(ids[1]), str(ids[0])]
    text = " ".join(re.sub(r"<[^>]+>", " ", table).split())
    for words in (f"{encode('vid', ids[1])} 1.5 $2.25", f"{encode('vid', ids[0])} 0.0 $1.50"):
        assert words in text
    assert encode("vid", ids[1]) in shown("finance")
    assert "href" not in shown("finance")


def test_an_operator_throttles_a_tenant_and_ends_it(staff: Client, acme: Cast, globex: Cast) -> None:
    form = ThrottleForm(Tenant.objects.using("console").get(id=acme.tenant_id), None)
    assert [form[name].value() for name in ("requests_per_minute", "jobs_at_once")] == [None, 1]
    for wrong in ({"requests_per_minute": "0"}, {"jobs_at_once": "0"}):
        assert act(staff, acme, "throttle", **wrong).status_code == 400
    assert act(staff, acme, "throttle", requests_per_minute="2", jobs_at_once="1").status_code == 302
    page = staff.get(page_of(acme)).content.decode()
    assert "Throttled to 2 requests a minute." in page
    assert "Slowed to 1 running job of each class." in page
    limits = Tenant.objects.using("console").values_list("requests_per_minute", "jobs_at_once")
    assert (limits.get(id=acme.tenant_id), limits.get(id=globex.tenant_id)) == ((2, 1), (None, None))

    assert act(staff, acme, "throttle", requests_per_minute="", jobs_at_once="").status_code == 302
    assert limits.get(id=acme.tenant_id) == (None, None)
    page = staff.get(page_of(acme)).content.decode()
    assert [word for word in ("Throttled", "Slowed") if word in page] == []
    assert acts_of(acme) == [("tenant.throttled", REASON)] * 2
    with acme.scope():
        details = AuditEvent.objects.filter(action="tenant.throttled").order_by("id").values_list("details", flat=True)
        throttled = {"requests_per_minute": 2, "jobs_at_once": 1}
        free = {"requests_per_minute": None, "jobs_at_once": None}
        assert list(details) == [{"from": free, "to": throttled}, {"from": throttled, "to": free}]


def test_an_erasure_needs_the_slug_and_begins_with_a_suspension(staff: Client, acme: Cast) -> None:
    assert act(staff, acme, "erase", slug="other").status_code == 400
    assert act(staff, acme, "erase", slug=acme.slug).status_code == 302

    assert Tenant.objects.using("console").get(id=acme.tenant_id).suspended_at is not None
    assert Job.unscoped.using("console").filter(kind=JobKind.ERASE_TENANT, subject_id=acme.tenant_id).count() == 1


def test_a_tenant_is_created_with_an_invited_owner(staff: Client, staff_as: Any) -> None:
    form = {"name": "Initech", "slug": "initech", "plan": "standard", "owner": "peter@example.org", "reason": REASON}
    assert staff_as("support").post("/console/tenancy/tenant/create/", form).status_code == 403
    page = staff.post("/console/tenancy/tenant/create/", form, follow=True).content.decode()

    tenant = Tenant.objects.using("console").get(slug="initech")
    invitation = Invitation.unscoped.using("console").get()
    assert (invitation.tenant_id, invitation.email, invitation.role) == (tenant.id, "peter@example.org", "owner")
    assert "Initech was created." in page
    assert staff.post("/console/tenancy/tenant/create/", form).status_code == 400


def test_an_operator_ends_the_sessions_of_a_member_here_or_everywhere(staff: Client, acme: Cast, globex: Cast) -> None:
    bob, eve = (Person.objects.create_user(f"{name}@example.org") for name in ("bob", "eve"))
    made = {}
    for cast, person in ((acme, bob), (globex, bob), (acme, eve)):
        with cast.scope():
            made[cast.slug, person] = Membership.objects.create(
                tenant_id=cast.tenant_id, person=person, role="owner"
            ).id

    def ended(cast: Cast, person: Person) -> bool:
        with cast.scope():
            return Membership.objects.get(id=made[cast.slug, person]).sessions_since is not None

    here = act(staff, acme, "end-sessions", member=str(made[acme.slug, bob]))
    foreign = act(staff, acme, "end-sessions", member=str(made[globex.slug, bob]))

    assert (here.status_code, foreign.status_code) == (302, 400)
    assert (ended(acme, bob), ended(globex, bob), ended(acme, eve)) == (True, False, False)
    bob.refresh_from_db()
    assert bob.sessions_since is None
    assert act(staff, acme, "end-sessions", member=str(made[acme.slug, bob]), everywhere="on").status_code == 302
    assert (ended(globex, bob), ended(acme, eve)) == (True, False)
    bob.refresh_from_db()
    assert bob.sessions_since is not None
    assert acts_of(acme) == [("member.sessions_ended", REASON)] * 2
    assert acts_of(globex) == [("member.sessions_ended", REASON)]


@override_settings(
    MEDIA_MINUTES_PER_PLAN={"standard": 60.0},
    STORAGE_BYTES_PER_PLAN={"standard": 5e6},
    TOKENS_PER_PLAN={"standard": 1e5},
)
def test_usage_against_the_plan_is_what_the_plan_holds_work_to(staff: Client, acme: Cast, globex: Cast) -> None:
    answered, video_id = ask(acme)
    finish(acme, answered, video_id)
    ask(acme)
    call = ModelCall("describe", "qwen", wall_ms=10, prompt_tokens=5_000)
    with acme.scope():
        set_budget(api_key_id=None, limits={"stored_bytes": 10**7})
        # A shared object, an appended piece, the tokens of an index, and a job that is no work of the customer's.
        for _ in range(2):
            Video.objects.filter(id=make_video(object_key="shared").id).update(size_bytes=1_000_000)
        video = make_video(source_type="segments")
        InputSegment.objects.create(
            tenant_id=acme.tenant_id, video=video, n=0, object_key="piece", size_bytes=500_000, start_ms=0
        )
        record_model_calls(source_type="assemble", source_id=video.id, calls=[call], video_id=video.id)
        enqueue(kind=JobKind.PURGE_VIDEO, subject_id=video.id, dedupe_key="purge")
    with the_api():
        upload = {"filename": "a.mp4", "size_bytes": 250_000, "content_type": "video/mp4", "duration_ms": 60_000}
        assert acme.client.post("/v1/uploads", upload).status_code == 201
        rows = acme.client.get("/v1/limits").json()["limits"]

    reply = staff.get(page_of(acme)).context_data
    assert reply is not None

    def enforced(scope: str) -> dict[str, tuple[Decimal, ...]]:
        columns = ("used", "reserved", "amount")
        amounts = {row["name"]: [Decimal(row[column]) for column in columns] for row in rows if row["scope"] == scope}
        return {name: (used + reserved, reserved, amount) for name, (used, reserved, amount) in amounts.items()}

    shown, budget = (
        {line.name: (line.used, line.reserved, line.limit) for line in reply[table]}
        for table in ("limits", "own_budgets")
    )
    assert {name: line for name, line in shown.items() if line[2] is not None} == enforced("plan")
    assert budget == enforced("tenant")
    assert shown["stored_bytes"] == (1_753_000, 250_000, 5_000_000), "three more videos have 1,000 bytes each"
    assert shown["tokens"] == (sum(call.prompt_tokens + call.completion_tokens for call in CALLS), 0, 100_000)
    assert (shown["questions"][:2], shown["open_jobs"][0]) == ((2, 0), 1)


def test_the_page_shows_what_the_plan_includes_and_what_is_used_of_it(staff: Client, acme: Cast) -> None:
    code, now = f"included-{acme.slug[-10:]}", timezone.now()
    append_plan_version(
        NewPlanVersion(
            code, "standard", now, "finance@example.org",
            allowances=[Allowance("questions", "", Decimal(100)), Allowance("questions", "ava", Decimal(40))],
        ),
        using="staff",
    )  # fmt: skip
    with acme.scope():
        subscribe(plan=code, author="finance@example.org", reason="agreed")
    price = Price.objects.filter(meter="questions").values_list("id", flat=True)[0]
    for cost, variant, number in (("0.1", "ava:low", 30), ("0.2", "vector", 60), ("0.3", "vector:low", 15)):
        book(acme, now, cost, "1", variant=variant, quantity=Decimal(number), price_id=price)
    book(acme, now - timedelta(days=60), "0.4", "1", quantity=Decimal(999), price_id=price)
    rebuild(acme)
    page = staff.get(page_of(acme)).content.decode()

    included = page[page.index("Included in the plan") :]
    row = r"<tr><td>questions</td><td>([^<]+)</td><td class=.n.>(\d+)</td><td class=.n.>(\d+)</td>"
    assert re.findall(row, included) == [("any other", "75", "100"), ("ava", "30", "40")]
