"""The pages of price books, prices, plans, invoices and credit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import DropdownFilter, RangeDateTimeFilter

from backend.api.public_ids import encode
from backend.billing.documents.file import file_of
from backend.billing.documents.page import as_pdf
from backend.billing.documents.table import as_csv
from backend.billing.exports.transfer import SINKS
from backend.billing.models import (
    BookKind,
    CreditGrant,
    InvariantResult,
    Invoice,
    InvoiceKind,
    InvoiceState,
    Plan,
    Price,
    UsageMeter,
)
from backend.billing.plan_preview import preview_plan
from backend.billing.preview import preview
from backend.billing.rates import plain
from backend.billing.services.findings import FINDINGS
from backend.billing.services.plans import PlanRefused, append_plan_version, check_plan_version
from backend.billing.services.prices import PriceRefused, append_book, append_price
from backend.console.access.gate import member_of
from backend.console.access.viewing import MONEY
from backend.console.acting.actions import INVOICE_ACTS, Operable
from backend.console.base import ReadOnlyPage, worded
from backend.console.filters import TenantFilter, fixed
from backend.console.money.plan_form import PlanVersionForm
from backend.console.money.price_form import BookForm, PriceForm, new_price
from backend.console.queries import billing
from backend.console.queries.money import names_of
from backend.console.queries.role import STAFF
from backend.console.templatetags.console import amount
from backend.console.words import badge
from backend.staff import sign_in

MOST_LINES = 500
"""Lines of a document that its page shows; its files have all."""
MOST_PREVIEWED = 50
"""Tenants for which the preview of a plan's version is worked out, the largest first."""


def last_month(now: datetime) -> date:
    """Return the first day of the last calendar month (UTC)."""
    return (now.astimezone(UTC).date().replace(day=1) - timedelta(days=1)).replace(day=1)


def _form_page(
    page: ReadOnlyPage, request: HttpRequest, form: Form, title: str, explains: str, *, back: str,
    template: str = "console/act.html",
) -> HttpResponse:  # fmt: skip
    """Return the page of a form that appends a row. back: name of the list that it leads back to."""
    context = {
        **page.page_context(request, title),
        "act": {"title": title, "explains": explains},
        "form": form,
        "back": reverse(f"admin:{back}_changelist"),
    }
    return TemplateResponse(request, template, context, status=400 if form.errors else 200)


class PriceBookPage(ReadOnlyPage):
    """The books; their prices have pages of their own. A book is made here, and never changed."""

    roles = MONEY
    sorts = None
    change_list_template = "console/price_books.html"
    list_display = ("code", "kind", "currency", "tenant_id", "note", "author")
    list_filter = (fixed("kind", BookKind.values), "currency")
    ordering = ("code",)
    id_columns = ("id", "tenant_id")
    search_fields = ("code", "note")
    small = True
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "Book": ("code", "kind", "currency", "note", "author"),
        "Details": ("id", "tenant_id"),
    }
    labels: ClassVar[Mapping[str, str]] = {"tenant_id": "tenant that alone has it", "author": "made by"}

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.create_view)
        return [path("create/", view, name="billing_pricebook_create"), *super().get_urls()]

    def create_view(self, request: HttpRequest) -> HttpResponse:
        """Make a price book, as the console's own role."""
        member = member_of(request)
        if member is None or not self.has_view_permission(request):
            raise PermissionDenied
        form = BookForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            values, author = form.cleaned_data, member.person.email
            tenant_id = None if values["tenant"] is None else values["tenant"].id
            try:
                with transaction.atomic(using=STAFF):
                    book = append_book(
                        code=values["code"], currency=values["currency"], tenant_id=tenant_id, note=values["note"],
                        author=author, using=STAFF,
                    )  # fmt: skip
                    owner = "" if tenant_id is None else encode("tnt", tenant_id)
                    sign_in.note(
                        request, "pricebook.created", author, book=str(book), tenant=owner, reason=values["note"]
                    )
            except PriceRefused as refused:
                form.add_error(None, str(refused))
            else:
                messages.success(request, f"The price book {book} was made. Append its prices next.")
                return HttpResponseRedirect(reverse("admin:billing_pricebook_change", args=[book.id]))
        explains = "Its currency and its tenant are never changed."
        return _form_page(self, request, form, "Make a price book", explains, back="billing_pricebook")


class PricePage(ReadOnlyPage):
    """Append-only: a new amount is a new version with a later effective_from. A preview shows what it would change."""

    roles = MONEY
    sorts = None
    add_form_template = "console/price_add.html"
    list_display = (
        "book", "meter", "shown_model", "variant", "amount", "version", "effective_from", "effective_to", "author",
    )  # fmt: skip
    list_filter = ("book__kind", fixed("meter", UsageMeter.values))
    list_select_related = ("book",)
    ordering = ("book", "meter", "model", "variant", "-version")
    search_fields = ("book__code", "model", "variant", "note")
    small = True
    fields = ("book", "meter", "model", "variant", "unit_amount", "effective_from", "note")
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "What it is the price of": ("book", "shown_meter", "shown_model", "variant", "amount"),
        "When it holds": ("effective_from", "effective_to", "back_dated"),
        "Who entered it": ("version", "author", "entered_at", "note"),
    }
    labels: ClassVar[Mapping[str, str]] = {
        "effective_from": "from", "effective_to": "until", "back_dated": "entered for a time that had passed",
        "entered_at": "when",
    }  # fmt: skip
    shown_meter = worded("meter")

    @admin.display(description="model", ordering="model")
    def shown_model(self, row: Price) -> str:
        return row.model or "any"

    @admin.display(description="unit amount", ordering="unit_amount")
    def amount(self, row: Price) -> str:
        return f"{plain(row.unit_amount)} {row.book.currency}"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.preview_view)
        return [path("preview/", view, name="billing_price_preview"), *super().get_urls()]

    def preview_view(self, request: HttpRequest) -> HttpResponse:
        """Show what last month would have cost with a price that is not appended yet."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseRedirect(reverse("admin:billing_price_add"))
        form = self.get_form(request)(request.POST)
        if not form.is_valid():
            shown: HttpResponse = self.changeform_view(request)
            return shown
        month = last_month(timezone.now())
        price = new_price(form.save(commit=False), author="preview")
        found = preview([price], month=month)
        names = names_of([line.tenant_id for line in found])
        lines = sorted(
            ((names.get(line.tenant_id, {}).get("name", "–"), line) for line in found),
            key=lambda pair: -abs(pair[1].difference),
        )
        totals = {
            currency: (
                sum(line.booked for line in found if line.currency == currency),
                sum(line.previewed for line in found if line.currency == currency),
            )
            for currency in sorted({line.currency for line in found})
        }
        context = {
            **self.page_context(request, "Last month would have cost"),
            "month": month, "price": price, "book": form.cleaned_data["book"], "lines": lines[:50], "totals": totals,
            "sent": [(name, value) for name, value in request.POST.items() if name != "csrfmiddlewaretoken"],
        }  # fmt: skip
        return TemplateResponse(request, "console/price_preview.html", context)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        new = {"form": PriceForm, "labels": None} if obj is None else {}
        return super().get_form(request, obj, change, **{**kwargs, **new})

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Append the price as the console's own role; no other role may write prices."""
        author = str(getattr(request.user, "email", ""))
        with transaction.atomic(using=STAFF):
            row = append_price(new_price(obj, author=author), using=STAFF)
            sign_in.note(request, "price.appended", author, price=str(row), reason=row.note)
        obj.pk = row.pk

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        # A price takes effect after it was entered.
        return {"effective_from": (timezone.now() + timedelta(hours=1)).replace(second=0, microsecond=0)}


class InvariantPage(ReadOnlyPage):
    """What the nightly check found of each invariant of money, and what the sweeps found, over all tenants."""

    roles = MONEY
    sorts = None
    list_display = ("name", "kind", "violations", "checked_at")
    ordering = ("-violations", "name")
    id_columns = ()
    small = True
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "What was checked": ("name", "kind", "checked_at", "violations"), "Some of the violations": ("examples",),
    }  # fmt: skip
    labels: ClassVar[Mapping[str, str]] = {"name": "check", "checked_at": "checked"}

    @admin.display(description="kind")
    def kind(self, row: InvariantResult) -> str:
        return "finding of a sweep" if row.name in FINDINGS else "invariant, checked every night"


class ExportPage(ReadOnlyPage):
    """What has reached the billing systems outside, and what they refused last."""

    roles = MONEY
    list_display = ("subject", "tenant", "sink", "failures", "last_error", "exported_until", "updated_at")
    list_filter = (TenantFilter, fixed("sink", sorted(SINKS)))
    list_select_related = ("tenant",)
    ordering = ("-failures", "-id")
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "What is sent": ("subject", "tenant", "sink", "external_id"),
        "What went wrong": ("failures", "last_error", "skipped", "skipped_at", "differences"),
        "When": ("exported_until", "compared_at", "agreed_until", "updated_at"),
    }
    labels: ClassVar[Mapping[str, str]] = {
        "sink": "system", "external_id": "id there", "failures": "failures in a row",
        "exported_until": "usage sent until", "updated_at": "last try",
        "skipped": "billable rows too old for the system",
        "skipped_at": "last row too old for it", "compared_at": "usage compared", "agreed_until": "usage last equal",
    }  # fmt: skip


class PlanPage(ReadOnlyPage):
    """A plan with the terms of each version. A new version is appended; subscribers of earlier ones keep them."""

    roles = MONEY
    sorts = None
    list_display = ("code", "name")
    ordering = ("code",)
    search_fields = ("code", "name")
    small = True

    def get_urls(self) -> list[URLPattern]:
        append, preview = map(self.admin_site.admin_view, (self.append_view, self.preview_view))
        return [
            path("append/", append, name="billing_plan_append"),
            path("preview/", preview, name="billing_plan_preview"),
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        plan: Plan = self.opened(request, object_id)
        context = {
            **self.page_context(request, plan.name),
            "plan": plan,
            "versions": billing.plan_versions(plan.id),
            "subscribers": billing.subscriber_count(plan.id),
        }
        return TemplateResponse(request, "console/plan.html", context)

    def append_view(self, request: HttpRequest) -> HttpResponse:
        """Append a version to a plan, or make a plan with its first version."""
        member = member_of(request)
        if member is None or not self.has_view_permission(request):
            raise PermissionDenied
        code = request.GET.get("plan", "")
        form = PlanVersionForm(request.POST) if request.method == "POST" else PlanVersionForm(initial=_terms_of(code))
        if request.method == "POST" and form.is_valid():
            try:
                with transaction.atomic(using=STAFF):
                    version = append_plan_version(form.new_version(author=member.person.email), using=STAFF)
                    sign_in.note(request, "plan.appended", member.person.email, plan=str(version), reason=version.note)
            except PlanRefused as refused:
                form.add_error(None, str(refused))
            else:
                messages.success(request, f"{version} was appended.")
                return HttpResponseRedirect(reverse("admin:billing_plan_change", args=[version.plan_id]))
        return self._append_page(request, form)

    def preview_view(self, request: HttpRequest) -> HttpResponse:
        """Show what last month would have cost the plan's largest tenants with a version that is not appended yet."""
        member = member_of(request)
        if member is None or not self.has_view_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseRedirect(reverse("admin:billing_plan_append"))
        form = PlanVersionForm(request.POST)
        if not form.is_valid():
            return self._append_page(request, form)
        now, version = timezone.now(), form.new_version(author=member.person.email)
        try:
            check_plan_version(version, using=STAFF)
        except PlanRefused as refused:
            form.add_error(None, str(refused))
            return self._append_page(request, form)
        month = last_month(now)
        found = preview_plan(version, month=month, at=now, most=MOST_PREVIEWED)
        names = names_of([line.tenant_id for line in found.lines])
        totals: dict[tuple[str, str], tuple[Decimal, Decimal]] = {}
        for line in found.lines:
            key = line.present.currency, line.previewed.currency
            present, previewed = totals.get(key, (Decimal(0), Decimal(0)))
            totals[key] = present + line.present.total, previewed + line.previewed.total
        context = {
            **self.page_context(request, "Last month would have cost"),
            "month": month, "version": version, "found": found, "totals": sorted(totals.items()),
            "lines": [(names.get(line.tenant_id, {}).get("name", "–"), line) for line in found.lines],
            "sent": [(name, value) for name, value in request.POST.items() if name != "csrfmiddlewaretoken"],
        }  # fmt: skip
        return TemplateResponse(request, "console/plan_preview.html", context)

    def _append_page(self, request: HttpRequest, form: Form) -> HttpResponse:
        explains = "Versions are never changed."
        page = _form_page(
            self, request, form, "Append a version of a plan", explains,
            back="billing_plan", template="console/plan_append.html",
        )  # fmt: skip
        return page


def _terms_of(code: str) -> dict[str, Any]:
    """Return the terms of the latest version of a plan as the form takes them."""
    version = billing.latest_version(code)
    start = (timezone.now() + timedelta(hours=1)).replace(second=0, microsecond=0)
    return (
        {"effective_from": start} if version is None else {**PlanVersionForm.filled(version), "effective_from": start}
    )


class OverdueFilter(DropdownFilter):
    """Invoices whose time to pay has passed."""

    title = "overdue"
    parameter_name = "overdue"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "overdue")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() != "yes":
            return queryset
        unpaid = queryset.filter(kind=InvoiceKind.INVOICE, state=InvoiceState.FINAL)
        return unpaid.filter(due_at__lt=timezone.now())


class InvoicePage(Operable, ReadOnlyPage):
    """Invoices and credit notes with their lines. The database refuses to change one that has a number."""

    roles = MONEY
    acts, actors = INVOICE_ACTS, MONEY
    list_display = ("shown_number", "tenant", "kind", "shown_state", "period_start", "amount", "due_at", "paid_at")
    list_filter = (
        TenantFilter, fixed("state", InvoiceState.values), fixed("kind", InvoiceKind.values),
        OverdueFilter, ("period_start", RangeDateTimeFilter),
    )  # fmt: skip
    list_select_related = ("tenant",)
    search_fields = ("number__exact",)
    small = True

    @admin.display(description="number")
    def shown_number(self, row: Invoice) -> str:
        return row.number or "draft"

    @admin.display(description="state", ordering="state")
    def shown_state(self, row: Invoice) -> SafeString:
        return badge(row.state)

    @admin.display(description="total", ordering="total")
    def amount(self, row: Invoice) -> str:
        return amount(row.total, row.currency)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        invoice: Invoice = self.opened(request, object_id)
        context = {
            **self.page_context(request, f"{invoice.get_kind_display()} {invoice.number or '(draft)'}"),
            **self.acts_context(request, invoice),
            "invoice": invoice,
            "lines": billing.invoice_lines(invoice)[:MOST_LINES],
            "notes": billing.credit_notes(invoice),
        }
        return TemplateResponse(request, "console/invoice.html", context)

    def get_urls(self) -> list[URLPattern]:
        def view(name: str) -> URLPattern:
            download = self.admin_site.admin_view(getattr(self, f"{name}_view"))
            pattern: URLPattern = path(f"<path:object_id>/{name}/", download, name=f"billing_invoice_{name}")
            return pattern

        return [view("csv"), view("pdf"), *super().get_urls()]

    def csv_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Download a document as the tenant gets it as CSV."""
        invoice: Invoice = self.opened(request, object_id)
        return file_of(as_csv(invoice, billing.invoice_lines(invoice)), invoice, "csv", "text/csv; charset=utf-8")

    def pdf_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Download a document as the tenant gets it as PDF."""
        invoice: Invoice = self.opened(request, object_id)
        content = as_pdf(invoice, list(billing.invoice_lines(invoice)), billing.corrected_by(invoice))
        return file_of(content, invoice, "pdf", "application/pdf")


class CreditPage(ReadOnlyPage):
    """Credit that was granted. A grant is made on the page of its tenant."""

    roles = MONEY
    list_display = ("granted_at", "tenant", "shown_amount", "left", "reason", "author", "expires_at")
    list_filter = (TenantFilter, ("granted_at", RangeDateTimeFilter))
    list_select_related = ("tenant",)
    search_fields = ("reason",)
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "Credit": ("tenant", "shown_amount", "left", "expires_at"),
        "Why": ("reason", "author", "granted_at"),
        "Details": ("id", "source"),
    }
    labels: ClassVar[Mapping[str, str]] = {
        "expires_at": "gone on", "author": "by", "granted_at": "granted", "source": "what it came from",
    }  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> Any:
        return billing.with_uses(super().get_queryset(request))

    @admin.display(description="amount", ordering="amount")
    def shown_amount(self, row: CreditGrant) -> str:
        return amount(row.amount, row.currency)

    @admin.display(description="left")
    def left(self, row: Any) -> str:
        return amount(row.amount - row.used, row.currency)
