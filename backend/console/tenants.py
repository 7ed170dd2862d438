"""The page of a tenant: usage against its plan, money, people, keys, webhooks, failures, and what can be done."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing.models import Subscription
from backend.billing.rates import plain
from backend.billing.rating import Allowance, use_of_allowances
from backend.billing.services.invoicing.overdue import REMIND_AFTER
from backend.console import tenant_limits
from backend.console.access.viewing import EVERYBODY, MONEY, WORK, role_of
from backend.console.acting import tenant_acts
from backend.console.acting.act_forms import ActForm
from backend.console.acting.actions import Actionable, apart
from backend.console.acting.acts import Act, Done, perform
from backend.console.base import ReadOnlyPage
from backend.console.filters import typed
from backend.console.operation.overview import failure_link, money_chart, percentile_chart
from backend.console.queries import billing, latency, money, tenants
from backend.console.queries.money import Sums
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused

CHART_DAYS = 30
FAILURE_DAYS = 7
DEAREST = 10
"""Videos of a tenant that its page shows by their cost."""


@dataclass(frozen=True, slots=True)
class IncludedLine:
    """Units of a meter that the plan includes in a month. used: of them and beyond."""

    meter: str
    variant: str
    used: Decimal
    quantity: Decimal

    @property
    def percent(self) -> float:
        return float(min(Decimal(100), 100 * self.used / self.quantity)) if self.quantity else 100.0


class TenantPage(Actionable, ReadOnlyPage):
    roles = EVERYBODY
    acts = tenant_acts.ACTS
    sorts = ("slug",)
    list_display = ("name", "slug", "plan", "created_at", "suspended_at")
    list_filter = (typed("plan"),)
    search_fields = ("name", "slug")
    small = True
    change_list_template = "console/tenants.html"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path("create/", view(self.create_view), name="tenancy_tenant_create"),
            path("<uuid:tenant_id>/act/<slug:name>/", view(self.tenant_act_view), name="tenancy_tenant_act"),
        ]
        return apart([*own, *super().get_urls()])

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        may_create = role_of(request) in tenant_acts.CREATE.roles
        shown: HttpResponse = super().changelist_view(request, {**(extra_context or {}), "may_create": may_create})
        return shown

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        tenant: Tenant = self.opened(request, object_id)
        role, now, limits = role_of(request), timezone.now(), tenant_limits.of_plan(tenant.id)
        context = {
            **self.page_context(request, tenant.name),
            "tenant": tenant,
            "public_id": encode("tnt", tenant.id),
            "acts": [act for act in tenant_acts.ACTS.values() if role in act.roles and act.fits(tenant)],
            "shows_money": role in MONEY,
            "shows_work": role in WORK,
            "members": tenants.members(tenant.id),
            "staff_acts": tenants.staff_acts(tenant.id),
            "videos": tenants.videos(tenant.id),
            "held": {line.name: line.used for line in limits},
            "limits": limits,
        }
        if role in MONEY:
            context |= _money(tenant, now)
        if role in WORK:
            since = now - timedelta(days=FAILURE_DAYS)
            context |= {
                "keys": tenants.api_keys(tenant.id),
                "endpoints": tenants.endpoints(tenant.id),
                "failures": [
                    {**line, "link": failure_link(line["kind"], line["code"], since, tenant=tenant.id)}
                    for line in tenants.failures(tenant.id, since)
                ],
                "now": now,
                **_latency(tenant, now),
            }
        return TemplateResponse(request, "console/tenant.html", context)

    def create_view(self, request: HttpRequest) -> HttpResponse:
        """Create a tenant, and invite its first owner."""
        return self._form_view(request, tenant_acts.CREATE, None, reverse("admin:tenancy_tenant_changelist"))

    def tenant_act_view(self, request: HttpRequest, tenant_id: UUID, name: str) -> HttpResponse:
        """Do one declared act to a tenant, for a reason."""
        act = tenant_acts.ACTS.get(name)
        if act is None:
            raise Http404
        tenant: Tenant = self.one(str(tenant_id))
        return self._form_view(request, act, tenant, reverse("admin:tenancy_tenant_change", args=[tenant.id]))

    def _form_view(self, request: HttpRequest, act: Act, tenant: Tenant | None, back: str) -> HttpResponse:
        if role_of(request) not in act.roles:
            raise PermissionDenied
        kind: type[Any] = act.form or ActForm
        form: ActForm = kind(tenant, request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            try:
                done = perform(act, request, tenant, form.cleaned_data)
            except Refused as refused:
                form.add_error(None, refused.detail)
            else:
                return self._after(request, done, back)
        context = {
            **self.page_context(request, act.title),
            "act": act, "tenant": tenant, "form": form, "back": back,
        }  # fmt: skip
        return TemplateResponse(request, "console/act.html", context, status=400 if form.errors else 200)

    def _after(self, request: HttpRequest, done: object, back: str) -> HttpResponse:
        """Keep and say what an act has done, and go on to its page."""
        assert isinstance(done, Done)
        request.session.update(dict(done.keeps))
        messages.success(request, done.words)
        return HttpResponseRedirect(done.url or back)


def _latency(tenant: Tenant, now: datetime) -> dict[str, Any]:
    first = now.astimezone(UTC).date() - timedelta(days=CHART_DAYS - 1)
    since = datetime.combine(first, datetime.min.time(), UTC)
    days = [since + timedelta(days=n) for n in range(CHART_DAYS)]
    asked = latency.question_latency(since, bucket="day", tenant_id=tenant.id)
    indexed = latency.index_latency(since, bucket="day", tenant_id=tenant.id)
    return {
        "question_lines": percentile_chart(asked, days, "day", unit="s", divisor=1_000),
        "index_lines": percentile_chart(indexed, days, "day", unit="s per minute", divisor=1_000),
    }


def _money(tenant: Tenant, now: datetime) -> dict[str, Any]:
    today = now.astimezone(UTC).date()
    month = money.spending(today.replace(day=1), today, tenant_id=tenant.id)
    first = today - timedelta(days=CHART_DAYS - 1)
    recent = money.spending(first, today, tenant_id=tenant.id)
    by_stage: list[tuple[str, str, Sums]] = [(stage, model, sums) for (stage, model), sums in month.by_stage.items()]
    account = tenants.billing_account(tenant.id)
    subscription = tenants.subscription(tenant.id, now)
    overdue = billing.overdue(tenant.id)
    return {
        "spent": month,
        "month": month.total,
        "currencies": sorted(month.by_currency.items()),
        "by_day": money_chart(recent, first, today),
        "dearest": tenants.dearest_videos(tenant.id, datetime.combine(first, datetime.min.time(), UTC), DEAREST),
        "by_stage": sorted((line for line in by_stage if line[0]), key=lambda line: -line[2].cost)[:15],
        "invoices": billing.invoices_of(tenant.id),
        "credits": billing.credits_of(tenant.id),
        "overdue": overdue,
        "last_reminder": any(line["reminders"] >= len(REMIND_AFTER) for line in overdue),
        "budget": tenants.budget(tenant.id),
        "own_budgets": tenant_limits.of_budgets(tenant.id),
        "account": account,
        "tax_percent": plain(account.tax_rate * 100) if account else "",
        "subscription": subscription,
        "included": _included(tenant, subscription, today.replace(day=1)),
    }


def _included(tenant: Tenant, subscription: Subscription | None, month: date) -> list[IncludedLine]:
    """Return what the plan of a tenant includes in a month, with what was used of it."""
    rows = billing.allowances_of(subscription.plan_version_id) if subscription else []
    if not rows:
        return []
    allowances = [Allowance(row.meter, row.variant, row.quantity) for row in rows]
    used = use_of_allowances(billing.used_of_month(tenant.id, month), allowances)
    return [IncludedLine(row.meter, row.variant, number, row.quantity) for row, number in used]
