"""The console's lists; backend.console.urls imports them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import RangeDateTimeFilter

from backend.audit.models import AuditEvent
from backend.billing.models import (
    CostDay,
    Coupon,
    CreditGrant,
    ExportState,
    InvariantResult,
    Invoice,
    LegalEntity,
    MachineDay,
    ModelRate,
    Plan,
    Price,
    PriceBook,
    TenantBudget,
    UsageEvent,
    UsageMeter,
)
from backend.billing.rates import plain
from backend.console.access.viewing import MONEY, WORK
from backend.console.acting.actions import (
    BREAKER_ACTS,
    DELIVERY_ACTS,
    ENDPOINT_ACTS,
    JOB_ACTS,
    USAGE_ACTS,
    OperableRow,
)
from backend.console.answers.comparisons import ComparisonPage
from backend.console.answers.searches import SearchPage
from backend.console.base import ReadOnlyPage, worded
from backend.console.details import QuestionPage, VideoPage
from backend.console.filters import TenantFilter, failed_part, fixed, typed
from backend.console.money.cost_days import CostDayPage
from backend.console.money.finance_pages import CouponPage, LegalEntityPage, MachineDayPage, ModelRatePage
from backend.console.money.money_pages import (
    CreditPage,
    ExportPage,
    InvariantPage,
    InvoicePage,
    PlanPage,
    PriceBookPage,
    PricePage,
)
from backend.console.queries.deliveries import attempts
from backend.console.site import site
from backend.console.templatetags.console import amount, usd
from backend.console.tenants import TenantPage
from backend.console.words import ago, badge
from backend.jobs.models import QUEUE_OF, Breaker, Job, JobKind, JobState
from backend.library.models import Video
from backend.questions.models import Comparison, Question, Search
from backend.staff.models import StaffEvent
from backend.tenancy.models import Tenant
from backend.webhooks.models import Attempt, Delivery, Endpoint
from backend.webhooks.payloads import EVENT_TYPES

site.register(Video, VideoPage)
site.register(Question, QuestionPage)
site.register(Search, SearchPage)
site.register(Comparison, ComparisonPage)
site.register(Tenant, TenantPage)
site.register(PriceBook, PriceBookPage)
site.register(Price, PricePage)
site.register(Plan, PlanPage)
site.register(Invoice, InvoicePage)
site.register(CreditGrant, CreditPage)
site.register(CostDay, CostDayPage)
site.register(Coupon, CouponPage)
site.register(LegalEntity, LegalEntityPage)
site.register(MachineDay, MachineDayPage)
site.register(ModelRate, ModelRatePage)
site.register(InvariantResult, InvariantPage)
site.register(ExportState, ExportPage)


class LeaseFilter(admin.SimpleListFilter):
    title = "lease"
    parameter_name = "lease"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("stuck", "run out while running"), ("held", "held")]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        if self.value() == "stuck":
            return queryset.filter(state="running", lease_until__lt=timezone.now())
        return queryset.filter(state="running", lease_until__gte=timezone.now()) if self.value() else queryset


@admin.register(Job, site=site)
class JobPage(OperableRow, ReadOnlyPage):
    roles = WORK
    acts = JOB_ACTS
    sorts = ("shown_id", "age")
    list_display = ("shown_id", "kind", "shown_state", "tenant", "attempts", "progress", "lease", "error_code", "age")
    list_filter = (
        TenantFilter, fixed("state", JobState.values), fixed("kind", sorted(JobKind.values)),
        fixed("queue", sorted(set(QUEUE_OF.values()))), LeaseFilter, typed("error_code"),
        ("created_at", RangeDateTimeFilter), ("completed_at", RangeDateTimeFilter),
    )  # fmt: skip
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "subject_id__exact", "dedupe_key", "error_code")
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "What it does": ("shown_id", "tenant", "kind", "shown_state", "attempts", "progress"),
        "What went wrong": ("error_code", "error_message", "outages", "dependency"),
        "When": (
            "created_at", "not_before", "started_at", "completed_at", "deadline_at", "paused_at", "cancel_requested_at",
        ),
        "Who works on it": ("queue", "rank", "lease_owner", "lease_until", "heartbeat_at"),
        "Details": ("subject_id", "video_id", "dedupe_key", "priority", "fair_tag", "lane", "rerun_requested",
                    "lease_token", "traceparent"),
    }  # fmt: skip
    labels: ClassVar[Mapping[str, str]] = {
        "outages": "interrupted by outages", "dependency": "waits for", "created_at": "made", "not_before": "may begin",
        "started_at": "begun", "completed_at": "ended", "deadline_at": "ends at the latest",
        "paused_at": "paused since", "cancel_requested_at": "asked to cancel",
        "queue": "class of workers", "rank": "order within the tenant",
        "lease_owner": "worker", "lease_until": "held until", "heartbeat_at": "last sign of life",
        "subject_id": "id of what it works on", "dedupe_key": "key of the work", "fair_tag": "turn among tenants",
        "lane": "shared work it is counted with", "rerun_requested": "to run once more",
        "lease_token": "number of holds", "traceparent": "trace",
    }  # fmt: skip

    @admin.display(description="state", ordering="state")
    def shown_state(self, job: Job) -> SafeString:
        stuck = job.state == "running" and job.lease_until is not None and job.lease_until < timezone.now()
        paused = job.state == "queued" and job.paused_at is not None
        return badge("stuck" if stuck else "paused" if paused else job.state)

    @admin.display(description="attempt")
    def attempts(self, job: Job) -> str:
        return f"{job.attempt} of {job.max_attempts}"

    @admin.display(description="progress")
    def progress(self, job: Job) -> str:
        done = f"{job.progress_done}/{job.progress_total}" if job.progress_total else ""
        return f"{job.progress_stage} {done}".strip() or "–"

    @admin.display(description="lease")
    def lease(self, job: Job) -> str:
        if job.state != "running" or job.lease_until is None:
            return "–"
        return f"{job.lease_owner or '?'} · token {job.lease_token} · beat {ago(job.heartbeat_at)} ago"

    @admin.display(description="made", ordering="id")
    def age(self, job: Job) -> str:
        return f"{ago(job.created_at)} ago"


@admin.register(Breaker, site=site)
class OutagePage(OperableRow, ReadOnlyPage):
    """What jobs wait for. A dependency that was never away has no row."""

    acts = BREAKER_ACTS
    roles = WORK
    sorts = None
    list_display = ("dependency", "shown_state", "away_for", "failures", "error_code", "error_message")
    list_filter = ("state",)
    ordering = ("dependency",)
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "What is away": ("dependency", "shown_state", "away_for", "failures"),
        "What went wrong": ("error_code", "error_message"),
        "When": ("opened_at", "probe_at"),
        "Details": ("probing_job",),
    }
    labels: ClassVar[Mapping[str, str]] = {
        "failures": "failed tries", "opened_at": "away since", "probe_at": "next try",
        "probing_job": "job that tries it now",
    }  # fmt: skip

    @admin.display(description="state", ordering="state")
    def shown_state(self, breaker: Breaker) -> SafeString:
        return badge(breaker.state)

    @admin.display(description="away for")
    def away_for(self, breaker: Breaker) -> str:
        return "–" if breaker.state == "closed" else ago(breaker.opened_at)


class EventTypeFilter(admin.SimpleListFilter):
    title = "event"
    parameter_name = "event"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in EVENT_TYPES]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        return queryset.filter(event__type=self.value()) if self.value() else queryset


@admin.register(Delivery, site=site)
class DeliveryPage(OperableRow, ReadOnlyPage):
    acts = DELIVERY_ACTS
    sorts = ("shown_id",)
    change_form_outer_after_template = "console/_attempts.html"
    roles, content = WORK, True
    content_columns = frozenset({"to"})
    content_searches = frozenset({"endpoint__url"})
    list_display = (
        "shown_id",
        "event_type",
        "shown_state",
        "tenant",
        "to",
        "attempts",
        "next_attempt_at",
        "created_at",
    )
    list_filter = (
        TenantFilter, "state", EventTypeFilter,
        failed_part(Attempt, reference="delivery_id", failed_at="attempted_at", parameter="attempt_error"),
    )  # fmt: skip
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "What is sent": ("shown_id", "tenant", "event_type", "receiver", "shown_state"),
        "Attempts": ("attempts", "attempts_before", "next_attempt_at"),
        "When": ("created_at", "completed_at", "expires_at"),
        "Details": ("endpoint_sequence",),
    }
    labels: ClassVar[Mapping[str, str]] = {
        "attempts": "attempts so far", "attempts_before": "before the last replay", "next_attempt_at": "next attempt",
        "created_at": "made", "completed_at": "ended", "expires_at": "given up at the latest",
        "endpoint_sequence": "number at the endpoint",
    }  # fmt: skip
    list_select_related = ("tenant", "event", "endpoint")
    search_fields = ("id__exact", "event__resource_id__exact", "endpoint__url")

    @admin.display(description="event")
    def event_type(self, delivery: Delivery) -> str:
        return delivery.event.type

    @admin.display(description="state", ordering="state")
    def shown_state(self, delivery: Delivery) -> SafeString:
        return badge(delivery.state)

    @admin.display(description="to")
    def to(self, delivery: Delivery) -> str:
        return delivery.endpoint.url

    @admin.display(description="to")
    def receiver(self, delivery: Delivery) -> SafeString:
        address = reverse("admin:webhooks_endpoint_change", args=[delivery.endpoint_id])
        return format_html('<a href="{}">{}</a>', address, delivery.endpoint.url)

    def row_context(self, request: HttpRequest, row: Delivery) -> dict[str, Any]:
        return {**super().row_context(request, row), "attempts": attempts(row), "body": row.event.body}


@admin.register(Endpoint, site=site)
class EndpointPage(OperableRow, ReadOnlyPage):
    acts = ENDPOINT_ACTS
    sorts = ("shown_id",)
    roles, content = WORK, True
    content_columns = frozenset({"url"})
    content_searches = frozenset({"url"})
    list_display = (
        "shown_id", "url", "shown_state", "shown_breaker", "tenant", "types", "dead_deliveries", "disabled_at",
        "created_at",
    )  # fmt: skip
    list_filter = (TenantFilter, "state", "breaker")
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "url")
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "What it is": ("shown_id", "tenant", "url", "description", "types", "created_at"),
        "Whether it is sent to": ("shown_state", "disabled_at", "why_disabled", "dead_deliveries"),
        "Failures now": ("shown_breaker", "failures", "opened_at", "probe_at"),
        "Details": ("last_sequence",),
    }
    labels: ClassVar[Mapping[str, str]] = {
        "created_at": "made", "disabled_at": "disabled since", "dead_deliveries": "deliveries given up in a row",
        "failures": "failed attempts in a row", "opened_at": "held back since", "probe_at": "next try",
        "last_sequence": "number of the last delivery",
    }  # fmt: skip
    why_disabled = worded("disabled_reason", "why")

    @admin.display(description="state", ordering="state")
    def shown_state(self, endpoint: Endpoint) -> SafeString:
        return badge(endpoint.state)

    @admin.display(description="breaker", ordering="breaker")
    def shown_breaker(self, endpoint: Endpoint) -> SafeString:
        return badge(endpoint.breaker)

    @admin.display(description="types")
    def types(self, endpoint: Endpoint) -> str:
        return ", ".join(endpoint.event_types) or "all"


@admin.register(TenantBudget, site=site)
class TenantBudgetPage(ReadOnlyPage):
    """Monthly limits that tenants set over the API; an empty field is no limit."""

    roles = MONEY
    list_display = ("tenant", "max_tokens", "max_seconds", "cost", "updated_at")
    list_filter = (TenantFilter,)
    list_select_related = ("tenant",)
    search_fields = ("tenant__slug", "tenant__name")
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "Limits of a month": ("tenant", "max_tokens", "max_seconds", "cost"),
        "When": ("updated_at",),
    }
    labels: ClassVar[Mapping[str, str]] = {
        "max_tokens": "tokens", "max_seconds": "seconds of models", "updated_at": "set",
    }  # fmt: skip

    @admin.display(description="max cost", ordering="max_cost")
    def cost(self, budget: TenantBudget) -> str:
        return usd(budget.max_cost)


@admin.register(UsageEvent, site=site)
class UsagePage(OperableRow, ReadOnlyPage):
    """The usage ledger. Its rows never change: an act appends rows that take the row back, or book it again."""

    roles = MONEY
    acts, actors = USAGE_ACTS, MONEY
    sorts = ("occurred_at",)
    list_display = (
        "occurred_at", "tenant", "meter", "shown_quantity", "shown_stage", "model", "cost", "price", "billable",
        "shown_source",
    )  # fmt: skip
    list_filter = (
        TenantFilter, fixed("meter", UsageMeter.values), "billable", ("occurred_at", RangeDateTimeFilter),
        typed("stage"), typed("model"),
    )  # fmt: skip
    list_select_related = ("tenant",)
    ordering = ("-occurred_at", "-id")
    search_fields = ("source_id__exact",)
    search_help_text = "The id of a question or a video"
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "What was used": ("occurred_at", "tenant", "shown_meter", "shown_quantity", "shown_stage", "model", "variant"),
        "Money": ("cost", "price", "billable", "shown_reason"),
        "What it was for": ("shown_source", "source_id", "method", "effort", "profile", "video_id", "question_id"),
        "Who used it": ("api_key_id", "person_id", "collection_id"),
        "Details": ("id", "recorded_at", "cost_price_id", "price_id", "price_version", "reverses_id"),
    }
    labels: ClassVar[Mapping[str, str]] = {
        "occurred_at": "when", "source_id": "id of the work", "video_id": "video", "question_id": "question",
        "api_key_id": "API key", "person_id": "person", "collection_id": "collection", "id": "id of the row",
        "recorded_at": "booked", "cost_price_id": "price of its cost", "price_id": "price",
        "price_version": "version of the price", "reverses_id": "row that it reverses",
    }  # fmt: skip
    shown_meter, shown_stage = worded("meter"), worded("stage")
    shown_source, shown_reason = worded("source_type", "work"), worded("reason", "why")

    @admin.display(description="quantity", ordering="quantity")
    def shown_quantity(self, event: UsageEvent) -> str:
        return plain(event.quantity)

    @admin.display(description="cost", ordering="cost_amount")
    def cost(self, event: UsageEvent) -> str:
        return usd(event.cost_amount)

    @admin.display(description="price", ordering="price_amount")
    def price(self, event: UsageEvent) -> str:
        return amount(event.price_amount, event.price_currency)


@admin.register(AuditEvent, site=site)
class AuditPage(ReadOnlyPage):
    """The audit logs of all tenants. Looking at them is not recorded in them."""

    list_display = ("occurred_at", "tenant", "action", "actor", "object_id", "reason", "address")
    list_filter = (TenantFilter, "actor_kind", typed("action", parameter="act"))
    list_select_related = ("tenant",)
    search_fields = ("object_id__exact", "actor_name", "request_id__exact")
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "What was done": ("occurred_at", "tenant", "action", "object_id", "reason"),
        "Who did it": ("actor", "shown_kind", "address"),
        "Details": ("actor_id", "request_id", "details"),
    }
    labels: ClassVar[Mapping[str, str]] = {
        "occurred_at": "when", "object_id": "to", "actor_id": "id of who", "request_id": "request",
        "details": "what changed",
    }  # fmt: skip
    shown_kind = worded("actor_kind", "kind")

    @admin.display(description="who", ordering="actor_kind")
    def actor(self, event: AuditEvent) -> str:
        return event.actor_name or event.actor_kind


@admin.register(StaffEvent, site=site)
class StaffEventPage(ReadOnlyPage):
    """Sign-ins, appointments and prices: acts of the staff that concern no tenant."""

    list_display = ("occurred_at", "action", "email", "address", "details")
    list_filter = (typed("action", parameter="act"),)
    search_fields = ("email", "address")
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "What was done": ("occurred_at", "action"),
        "Who did it": ("email", "address"),
        "Details": ("request_id", "details"),
    }
    labels: ClassVar[Mapping[str, str]] = {
        "occurred_at": "when", "email": "account", "request_id": "request", "details": "what changed",
    }  # fmt: skip
