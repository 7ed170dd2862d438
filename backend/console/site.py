"""The console's site: its own sign-in page, navigation and dashboard."""

from __future__ import annotations

from functools import wraps
from typing import Any

from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.templatetags.static import static
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from unfold.sites import UnfoldAdminSite

from backend.console.overview import overview
from backend.console.viewing import ContentClosed, role_of


def _page(title: str, icon: str, name: str) -> dict[str, Any]:
    return {"title": title, "icon": icon, "link": reverse_lazy(f"admin:{name}")}


_LOOKS: dict[str, Any] = {
    "SITE_TITLE": "AVA Cloud console",
    "SITE_HEADER": "AVA Cloud",
    "SITE_SUBHEADER": "Console",
    "SITE_SYMBOL": "movie",
    "SITE_URL": None,
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "STYLES": [lambda request: static("console/console.css")],
    "SIDEBAR": {
        "show_search": False,
        "command_search": False,
        "show_all_applications": False,
        "navigation": [
            {"items": [_page("Overview", "monitoring", "index")]},
            {
                "title": "Work",
                "separator": True,
                "items": [
                    {"title": "Operations", "icon": "emergency", "link": reverse_lazy("operations")},
                    _page("Videos", "video_library", "library_video_changelist"),
                    _page("Questions", "forum", "questions_question_changelist"),
                    _page("Searches", "search", "questions_search_changelist"),
                    _page("Comparisons", "balance", "questions_comparison_changelist"),
                    _page("Jobs", "pending_actions", "jobs_job_changelist"),
                    _page("Outages", "power_off", "jobs_breaker_changelist"),
                ],
            },
            {
                "title": "Webhooks",
                "separator": True,
                "items": [
                    _page("Deliveries", "send", "webhooks_delivery_changelist"),
                    _page("Endpoints", "webhook", "webhooks_endpoint_changelist"),
                ],
            },
            {
                "title": "Money",
                "separator": True,
                "items": [
                    _page("Tenants", "apartment", "tenancy_tenant_changelist"),
                    _page("Budgets", "savings", "billing_tenantbudget_changelist"),
                    _page("Usage ledger", "receipt_long", "billing_usageevent_changelist"),
                    _page("Price books", "sell", "billing_pricebook_changelist"),
                ],
            },
            {
                "title": "Trust",
                "separator": True,
                "items": [
                    _page("Audit log", "history", "audit_auditevent_changelist"),
                    _page("Staff log", "badge", "staff_staffevent_changelist"),
                ],
            },
        ],
    },
}


class ConsoleSite(UnfoldAdminSite):
    index_title = "Overview"

    def _get_config(self, key: str, *args: Any) -> Any:
        # The looks belong to this site, not to the settings of the process.
        return _LOOKS[key] if key in _LOOKS and key != "STYLES" else super()._get_config(key, *args)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        return {**super().each_context(request), "styles": [style(request) for style in _LOOKS["STYLES"]]}

    def has_permission(self, request: HttpRequest) -> bool:
        """Whether the request comes from staff whose second factor was verified."""
        return role_of(request) != ""

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Send viewers without access to the page on which they state a reason."""

        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            try:
                reply: HttpResponse = view(request, *args, **kwargs)
            except ContentClosed as closed:
                return HttpResponseRedirect(closed.url)
            return reply

        return super().admin_view(guarded, cacheable)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        # The sign-in form carries no `next` of its own and would end at a page that does not exist.
        if request.method == "GET" and REDIRECT_FIELD_NAME not in request.GET:
            return HttpResponseRedirect(f"{request.path}?{REDIRECT_FIELD_NAME}={reverse('admin:index')}")
        reply: HttpResponse = super().login(request, extra_context)
        return reply

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Show the overview."""
        request.current_app = self.name
        context = {
            **self.each_context(request),
            "title": self.index_title,
            **overview(request, timezone.now()),
            **(extra_context or {}),
        }
        return TemplateResponse(request, "console/overview.html", context)


site = ConsoleSite()
