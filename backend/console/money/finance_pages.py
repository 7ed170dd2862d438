"""The pages of coupons, legal entities, machine hours and the rates of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from unfold.contrib.filters.admin import RangeDateFilter

from backend.billing.models import Coupon, MachineDay
from backend.billing.rates import plain
from backend.billing.services.credit.coupons import NewCoupon, create_coupon
from backend.billing.services.machines.machine_hours import enter_hours
from backend.console.access.gate import member_of
from backend.console.access.viewing import MONEY
from backend.console.base import ReadOnlyPage
from backend.console.money.finance_forms import HoursForm, NewCouponForm
from backend.console.queries.role import STAFF
from backend.console.templatetags.console import amount
from backend.staff import sign_in
from backend.tenancy.refusals import Refused


class CreatingPage(ReadOnlyPage):
    """A list with a form that writes rows as the console's own role, for a reason that the log of the staff keeps.

    form: what is asked. creates, explains: title and text of the form. action: name of the act in the log.
    """

    change_list_template = "console/creating.html"
    form_class: ClassVar[type[Form]]
    creates: ClassVar[str]
    explains: ClassVar[str]
    action: ClassVar[str]

    def write(self, values: Mapping[str, Any], author: str) -> tuple[str, dict[str, Any]]:
        """Write what a form asked for. Returns what is said about it, and the details for the log. Raises Refused."""
        raise NotImplementedError

    @property
    def _create(self) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_create"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.create_view)
        return [path("create/", view, name=self._create), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        context = {"creates": self.creates, "create_link": reverse(f"admin:{self._create}"), **(extra_context or {})}
        page: HttpResponse = super().changelist_view(request, context)
        return page

    def create_view(self, request: HttpRequest) -> HttpResponse:
        """Show the form, or write what it asks for."""
        member = member_of(request)
        if member is None or not self.has_view_permission(request):
            raise PermissionDenied
        listed = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")
        form = self.form_class(request.POST, request.FILES) if request.method == "POST" else self.form_class()
        if request.method == "POST" and form.is_valid():
            author = member.person.email
            try:
                with transaction.atomic(using=STAFF):
                    done, details = self.write(form.cleaned_data, author)
                    sign_in.note(request, self.action, author, reason=form.cleaned_data["reason"], **details)
            except Refused as refused:
                form.add_error(None, str(refused))
            else:
                messages.success(request, done)
                return HttpResponseRedirect(listed)
        context = {
            **self.page_context(request, self.creates),
            "act": {"title": self.creates, "explains": self.explains},
            "form": form,
            "back": listed,
        }
        return TemplateResponse(request, "console/act.html", context, status=400 if form.errors else 200)


class CouponPage(CreatingPage):
    """Coupons, which are never changed. One is given to a tenant on the page of the tenant."""

    roles = MONEY
    sorts = None
    list_display = ("code", "discount", "months", "redeem_until", "note", "author", "entered_at")
    ordering = ("-entered_at", "code")
    search_fields = ("code", "note")
    small = True
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "Coupon": ("code", "discount", "months", "redeem_until"),
        "Who made it": ("author", "entered_at", "note"),
    }
    labels: ClassVar[Mapping[str, str]] = {
        "redeem_until": "can be granted until", "author": "made by", "entered_at": "when", "note": "why",
    }  # fmt: skip
    form_class = NewCouponForm
    creates = "Make a coupon"
    explains = "It is never changed. Grant it to a tenant on the page of the tenant."
    action = "coupon.created"

    @admin.display(description="discount")
    def discount(self, row: Coupon) -> str:
        return amount(row.amount, row.currency) + " a month" if row.percent is None else f"{plain(row.percent)} %"

    def write(self, values: Mapping[str, Any], author: str) -> tuple[str, dict[str, Any]]:
        row = create_coupon(
            NewCoupon(
                values["code"], author, percent=values["percent"], amount=values["amount"],
                currency=values["currency"], months=values["months"], redeem_until=values["redeem_until"],
                note=values["reason"],
            ),
            using=STAFF,
        )  # fmt: skip
        details = {"coupon": row.code, "discount": self.discount(row), "months": row.months}
        return f"The coupon {row.code} was made.", details


class LegalEntityPage(ReadOnlyPage):
    """The sellers. `manage.py legal_entity` changes what the invoices of a seller say."""

    roles = MONEY
    sorts = None
    list_display = ("code", "legal_name", "country", "tax_id", "invoice_prefix", "credit_note_prefix", "is_default")
    ordering = ("code",)
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "Seller": ("code", "legal_name", "address", "country", "tax_id", "is_default"),
        "What invoices say": ("payment_details", "invoice_prefix", "credit_note_prefix"),
    }
    labels: ClassVar[Mapping[str, str]] = {
        "is_default": "sells to tenants", "payment_details": "how to pay", "invoice_prefix": "begin of invoice numbers",
        "credit_note_prefix": "begin of credit note numbers",
    }  # fmt: skip


class MachineDayPage(CreatingPage):
    """What was paid for each kind of machine on each day. Entering a day and machine again replaces the entry."""

    roles = MONEY
    sorts = None
    list_display = ("day", "machine", "devices", "hours", "usd_per_hour", "paid", "note", "author")
    list_filter = (("day", RangeDateFilter),)
    ordering = ("-day", "machine")
    search_fields = ("machine", "note")
    small = True
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "What was paid": ("day", "machine", "devices", "hours", "usd_per_hour", "paid"),
        "Who entered it": ("author", "entered_at", "note"),
    }
    labels: ClassVar[Mapping[str, str]] = {
        "devices": "accelerators of one machine", "hours": "hours of all machines together",
        "usd_per_hour": "USD an hour of one machine", "author": "entered by", "entered_at": "when", "note": "why",
    }  # fmt: skip
    form_class = HoursForm
    creates = "Enter machine hours"
    explains = (
        "A sweep compares the last seven days with the work every day. "
        "For an earlier day run: manage.py reconcile_costs --day DAY."
    )
    action = "machine_hours.entered"

    @admin.display(description="paid")
    def paid(self, row: MachineDay) -> str:
        return amount(row.hours * row.usd_per_hour, "USD")

    def write(self, values: Mapping[str, Any], author: str) -> tuple[str, dict[str, Any]]:
        entries = values["entries"]
        enter_hours(entries, author=author, note=values["reason"], using=STAFF)
        days = sorted(entry.day for entry in entries)
        paid = sum(entry.hours * entry.usd_per_hour for entry in entries)
        details = {"rows": len(entries), "from": str(days[0]), "to": str(days[-1]), "usd": plain(paid)}
        return f"{len(entries)} rows were entered, {plain(paid)} USD together.", details


class ModelRatePage(ReadOnlyPage):
    """Device time of a served model's tokens in microseconds. `manage.py measure_model_rate --append` adds a rate."""

    roles = MONEY
    sorts = None
    list_display = (
        "model", "effective_from", "fresh_us", "cached_us", "output_us", "picture_us", "request_us", "author",
    )  # fmt: skip
    ordering = ("model", "-effective_from")
    search_fields = ("model", "note")
    small = True
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "Microseconds of a device": ("model", "fresh_us", "cached_us", "output_us", "picture_us", "request_us"),
        "When it holds": ("effective_from",),
        "Who entered it": ("author", "entered_at", "note"),
    }
    labels: ClassVar[Mapping[str, str]] = {
        "fresh_us": "a fresh prompt token", "cached_us": "a cached prompt token", "output_us": "an output token",
        "picture_us": "a picture", "request_us": "a request", "effective_from": "from", "entered_at": "when",
    }  # fmt: skip
