"""Price books and plans: which price applies, what may be appended, and what a period's terms are."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, connections, transaction
from django.utils import timezone
from uuid6 import uuid7

from backend.billing import terms
from backend.billing.models import Plan, Price, PriceBook, Subscription, UsageEvent, UsageMeter
from backend.billing.preview import preview
from backend.billing.rates import rates_at
from backend.billing.rating import Allowance, Tier
from backend.billing.services.plans import NewPlanVersion, PlanRefused, append_plan_version, subscribe
from backend.billing.services.prices import NewPrice, PriceRefused, append_price
from backend.billing.services.usage import rows
from backend.billing.services.usage.rerating import rerate
from backend.billing.services.usage.rollups import rebuild_stale
from backend.tenancy.refusals import Refused
from tests.conftest import Cast
from tests.isolation.test_catalog import superuser

D = Decimal


@pytest.fixture(autouse=True)
def first_prices(database: None) -> Iterator[None]:
    """Leave the books as the migrations made them."""
    yield
    connections["staff"].close()
    for statement in (
        "DELETE FROM billing_subscription", "DELETE FROM billing_planallowance", "DELETE FROM billing_plantier",
        "DELETE FROM billing_planlimit", "DELETE FROM billing_planversion WHERE author <> 'migration'",
        "DELETE FROM billing_plan WHERE code NOT IN ('sandbox', 'standard')",
        "DELETE FROM billing_price WHERE author <> 'migration'",
        "DELETE FROM billing_pricebook WHERE code NOT IN ('cost', 'sandbox', 'standard')",
        "ALTER TABLE billing_price DISABLE TRIGGER billing_price_append_only",
        "UPDATE billing_price SET effective_to = NULL",
        "ALTER TABLE billing_price ENABLE TRIGGER billing_price_append_only",
    ):  # fmt: skip
        with superuser() as server:
            server.execute(statement)


def book(code: str, *, currency: str = "USD", tenant_id: UUID | None = None) -> PriceBook:
    return PriceBook.objects.using("staff").create(kind="price", code=code, currency=currency, tenant_id=tenant_id)


def new(of: PriceBook, amount: str, *, meter: str = "questions", variant: str = "", **more: Any) -> NewPrice:
    start = more.pop("start", timezone.now())
    return NewPrice(of.id, meter, D(amount), start, "finance@example.org", variant=variant, **more)


def standard() -> PriceBook:
    return PriceBook.objects.get(code="standard")


def append(price: NewPrice, **more: Any) -> Price:
    return append_price(price, using="staff", **more)


def test_a_version_follows_another_and_ends_it(acme: Cast) -> None:
    now = timezone.now()
    second = append(new(standard(), "0.03", start=now + timedelta(days=1)))
    first = Price.objects.get(book=standard(), meter="questions", variant="", version=1)

    assert (second.version, second.author, second.back_dated) == (2, "finance@example.org", False)
    assert first.effective_to == second.effective_from == now + timedelta(days=1)
    with acme.scope():
        today = rates_at(now).value("price", "questions", "", D(3))
        assert (today.amount, today.price_id, today.version, today.currency) == (D("0.06"), first.id, 1, "USD")
        assert rates_at(now + timedelta(days=1)).value("price", "questions", "", D(3)).price_id == second.id


def test_what_may_not_be_appended(acme: Cast) -> None:
    for price, why in (
        (new(standard(), "-0.01"), "not negative"),
        (new(standard(), "1", start=timezone.now() - timedelta(days=1)), "in the past"),
        (new(standard(), "1", start=datetime(2019, 1, 1, tzinfo=UTC)), "must take effect after"),
        (NewPrice(standard().id, "questions", D(1), timezone.now(), ""), "names the person"),
    ):
        with pytest.raises(PriceRefused, match=why):
            append(price)
    assert Price.objects.filter(book=standard(), meter="questions", variant="").count() == 1


@pytest.mark.parametrize(
    ("values", "constraint"),
    [
        ({"unit_amount": D(-1), "effective_from": datetime(2999, 1, 1, tzinfo=UTC), "variant": "x"},
         "price_not_negative"),
        ({"effective_from": datetime(2030, 1, 1, tzinfo=UTC), "version": 2}, "billing_price_no_overlap"),
        ({"effective_from": datetime(2020, 1, 1, tzinfo=UTC), "variant": "x"}, "price_not_back_dated"),
        ({"effective_from": datetime(2999, 1, 1, tzinfo=UTC), "effective_to": datetime(2998, 1, 1, tzinfo=UTC),
          "variant": "x"}, "price_has_a_span|range lower bound"),
    ],
)  # fmt: skip
def test_the_database_refuses_it_too(acme: Cast, values: dict[str, Any], constraint: str) -> None:
    row = {"meter": "questions", "unit_amount": D(1), "version": 1, "author": "x", **values}
    with pytest.raises(Exception, match=constraint), transaction.atomic(using="staff"):
        Price.objects.using("staff").create(book=standard(), **row)


def test_a_price_is_never_changed(acme: Cast) -> None:
    price = append(new(standard(), "0.03", start=timezone.now() + timedelta(days=1)))
    for values in ({"unit_amount": D(9)}, {"author": "x"}):
        with pytest.raises(Exception, match="permission denied"), transaction.atomic(using="staff"):
            Price.objects.using("staff").filter(id=price.id).update(**values)
        with pytest.raises(IntegrityError, match="never changed"), transaction.atomic(using="owner"):
            Price.objects.using("owner").filter(id=price.id).update(**values)
    ended = Price.objects.using("staff").filter(book=standard(), meter="questions", version=1, variant="")
    with pytest.raises(IntegrityError, match="ends once"), transaction.atomic(using="staff"):
        ended.update(effective_to=None)


def test_the_nearest_variant_and_the_tenants_own_book_go_first(acme: Cast, globex: Cast) -> None:
    own = book("acme-prices", tenant_id=acme.tenant_id)
    start = timezone.now()
    for variant, amount in (("tree", "0.07"), ("tree:low", "0.06")):
        append(new(standard(), amount, variant=variant, start=start))
    append(new(own, "0.001", meter="media_seconds", start=start))
    append(new(own, "0.05", variant="tree", start=start))
    later = start + timedelta(seconds=1)

    with acme.scope():
        mine = rates_at(later)
        # The own book has no tree:low, but its tree goes before the plan's tree:low.
        assert [mine.unit("price", "questions", "", v) for v in ("tree:low", "tree:high", "ava:low", "other")] == [
            D("0.05"), D("0.05"), D("0.01"), D("0.02"),
        ]  # fmt: skip
        assert mine.unit("price", "media_seconds", "") == D("0.001")
    with globex.scope():
        theirs = rates_at(later)
        assert [theirs.unit("price", "questions", "", v) for v in ("tree:low", "tree:high")] == [D("0.06"), D("0.07")]
        assert theirs.unit("price", "media_seconds", "") == D("0.0007")
        # Not even the rows are readable for another tenant.
        assert not PriceBook.objects.filter(id=own.id).exists()
        assert not Price.objects.filter(book_id=own.id).exists()


def test_a_subscription_brings_its_book_currency_and_trial(acme: Cast) -> None:
    yen, start = book("japan", currency="JPY"), timezone.now()
    append(new(yen, "3", start=start))
    append(new(yen, "0.1", meter="media_seconds", start=start))
    for meter in set(UsageMeter.values) - {"questions", "media_seconds"}:
        append(new(yen, "0", meter=meter, start=start))
    plan = NewPlanVersion(
        "japan", "japan", start, "finance@example.org", minimum_amount=D(1000), trial_days=10,
        allowances=[Allowance("questions", "", D(31))], tiers=[Tier("questions", "", "volume", D(0), D(2))],
        limits=[("questions", D(50))],
    )  # fmt: skip
    append_plan_version(plan, using="staff")
    with acme.scope():
        subscribe(plan="japan", author="finance@example.org", reason="signed")
        later = timezone.now() + timedelta(seconds=1)
        assert rates_at(later).value("price", "questions", "", D(5)).amount == D(15)
        assert rates_at(later).currency == "JPY"
        with pytest.raises(Refused, match="already"):
            subscribe(plan="japan", author="x", reason="again")
    body = acme.client.get("/v1/prices").json()
    assert (body["currency"], body["plan"]["code"], body["plan"]["minimum_amount"]) == ("JPY", "japan", "1000")
    assert [(row["meter"], row["unit_amount"]) for row in body["prices"] if row["unit_amount"] != "0"] == [
        ("media_seconds", "0.1"), ("questions", "3"),
    ]  # fmt: skip
    assert body["plan"]["tiers"] == [
        {"meter": "questions", "variant": "", "mode": "volume", "from_quantity": "0", "unit_amount": "2"}
    ]
    assert body["trial_until"] is not None


def test_the_spans_of_a_month_share_allowance_and_minimum(acme: Cast) -> None:
    with acme.scope():
        standing = Plan.objects.get(code="standard").versions.get()
    start, end = datetime(2028, 2, 1, tzinfo=UTC), datetime(2028, 3, 1, tzinfo=UTC)
    plan = NewPlanVersion(
        "team", "standard", timezone.now(), "x", minimum_amount=D(29), trial_days=10,
        allowances=[Allowance("questions", "", D(290))],
    )  # fmt: skip
    version = append_plan_version(plan, using="staff")
    with acme.scope():
        subscribe(plan="team", author="x", reason="signed", at=datetime(2028, 2, 11, tzinfo=UTC))
        spans = terms.spans_of(start, end)

    # February 2028 has 29 days: 10 on the standard plan, 10 in the trial, 9 on the team plan.
    assert [(span.start.day, span.plan_version.id, span.terms.trial, span.terms.minimum) for span in spans] == [
        (1, standing.id, False, D(0)), (11, version.id, True, D(0)), (21, version.id, False, D("9.00")),
    ]  # fmt: skip
    assert spans[2].terms.allowances == (Allowance("questions", "", D(90)),)
    assert [span.start for span in spans[1:]] == [span.end for span in spans[:-1]]
    assert spans[-1].end == end


def test_two_subscriptions_never_overlap(acme: Cast, globex: Cast) -> None:
    version = Plan.objects.get(code="standard").versions.get()
    values = {"plan_version_id": version.id, "author": "x", "effective_from": datetime(2030, 1, 1, tzinfo=UTC)}
    for cast in (acme, globex):
        with cast.scope():
            Subscription.objects.update(effective_to=datetime(2028, 1, 1, tzinfo=UTC))
            Subscription.objects.create(tenant_id=cast.tenant_id, **values)
    with pytest.raises(IntegrityError, match="billing_subscription_no_overlap"), acme.scope():
        Subscription.objects.create(
            tenant_id=acme.tenant_id, **{**values, "effective_from": datetime(2029, 1, 1, tzinfo=UTC)}
        )
    with acme.scope():
        Subscription.objects.create(
            tenant_id=acme.tenant_id,
            effective_to=datetime(2030, 1, 1, tzinfo=UTC),
            **{**values, "effective_from": datetime(2029, 1, 1, tzinfo=UTC)},
        )


def test_a_plan_is_refused_with_broken_tiers_or_in_the_past(acme: Cast) -> None:
    broken = NewPlanVersion("x", "standard", timezone.now(), "x", tiers=[Tier("questions", "", "volume", D(5), D(1))])
    past = NewPlanVersion("x", "standard", timezone.now() - timedelta(days=1), "x")
    for plan, why in ((broken, "begins at 0"), (past, "in the past")):
        with pytest.raises(PlanRefused, match=why):
            append_plan_version(plan, using="staff")
    assert not Plan.objects.filter(code="x").exists()


def asked(number: int, at: datetime, variant: str = "") -> UUID:
    id = uuid7()
    line = rows.Line("questions", D(number), variant=variant)  # type: ignore[arg-type]
    rows.write(rows.Source("question", str(id)), [line], at)
    return id


def test_a_back_dated_price_changes_the_ledger_by_new_rows_alone(acme: Cast) -> None:
    now = timezone.now()
    with acme.scope():
        asked(1, now - timedelta(days=3))
        asked(2, now - timedelta(hours=3))
        asked(3, now - timedelta(hours=1), "ava:low")
        before = list(UsageEvent.objects.order_by("id").values())
    price = append(new(standard(), "0.015", start=now - timedelta(days=1)), back_dated=True)
    assert price.back_dated
    with acme.scope():
        assert rerate(price, reason="agreed on Monday") == 1
    with acme.scope():
        assert rerate(price, reason="agreed on Monday") == 0
        kept = {row["id"] for row in before}
        assert list(UsageEvent.objects.filter(id__in=kept).order_by("id").values()) == before
        added = UsageEvent.objects.exclude(id__in=kept).order_by("quantity")
        assert [(row.quantity, row.price_amount, row.price_version, row.reason) for row in added] == [
            (D(-2), D("-0.04"), 1, "agreed on Monday"), (D(2), D("0.03"), 2, "agreed on Monday"),
        ]  # fmt: skip
        assert added[0].reverses_id == before[1]["id"]
        assert {row.occurred_at for row in added} == {before[1]["occurred_at"]}


def test_a_preview_is_what_new_prices_would_have_cost(acme: Cast, globex: Cast) -> None:
    month = (timezone.now().date().replace(day=1) - timedelta(days=1)).replace(day=1)
    first = datetime(month.year, month.month, 1, tzinfo=UTC)
    for cast, number in ((acme, 10), (globex, 4)):
        with cast.scope():
            asked(number, first)
            asked(2, first + timedelta(days=20), "ava:low")
            asked(100, first - timedelta(seconds=1))
        rebuild_stale(cast.tenant_id)
        with cast.scope():
            asked(3, first, "ava:low")
            asked(-3, first, "ava:low")
        # An hour that is built again counts once.
        rebuild_stale(cast.tenant_id)
    own = book("globex-prices", tenant_id=globex.tenant_id)
    found = preview([new(standard(), "0.03"), new(own, "0.01", variant="ava")], month=month, using="console")

    # acme: 10 at 0.02 and 2 at 0.01; the new price has no say over ava:low. globex: its own book goes first.
    assert {row.tenant_id: (row.booked, row.previewed) for row in found} == {
        acme.tenant_id: (D("0.22"), D("0.32")), globex.tenant_id: (D("0.10"), D("0.14")),
    }  # fmt: skip
    assert Price.objects.filter(book=standard(), meter="questions", variant="").count() == 1
