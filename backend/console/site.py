"""The console's site: its own sign-in page, navigation and dashboard."""

from __future__ import annotations

from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.templatetags.static import static
from django.urls import URLPattern, path, reverse, reverse_lazy
from django.utils import timezone
from unfold.sites import UnfoldAdminSite

from backend.console.access.viewing import (
    EVERYBODY,
    MONEY,
    OPERATORS,
    WORK,
    ContentClosed,
    role_of,
    signed_in_as_banner,
)
from backend.console.finding import find, search_results
from backend.console.operation.overview import overview
from backend.staff.models import Role


def _page(title: str, icon: str, name: str, roles: frozenset[Role] = EVERYBODY) -> dict[str, Any]:
    """Return an entry of the navigation, which only these roles see."""

    def permitted(request: HttpRequest) -> bool:
        return role_of(request) in roles

    return {"title": title, "icon": icon, "link": reverse_lazy(f"admin:{name}"), "permission": permitted}


_LOOKS: dict[str, Any] = {
    "SITE_TITLE": "AVA Cloud console",
    "SITE_HEADER": "AVA Cloud",
    "SITE_SUBHEADER": "Console",
    "SITE_SYMBOL": "movie",
    # Without it browsers look for /favicon.ico, which the console does not serve.
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("console/icon.svg")},
    ],
    "SITE_URL": None,
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "STYLES": [lambda request: static("console/console.css")],
    "SIDEBAR": {
        "show_search": True,
        "command_search": True,
        "show_all_applications": False,
        "navigation": [
            {"items": [_page("Overview", "monitoring", "index"), _page("Find", "search", "find")]},
            {
                "title": "Work",
                "separator": True,
                "items": [
                    {
                        "title": "Operations",
                        "icon": "emergency",
                        "link": reverse_lazy("operations"),
                        "permission": lambda request: role_of(request) in WORK,
                    },
                    {
                        "title": "Requests",
                        "icon": "http",
                        "link": reverse_lazy("requests"),
                        "permission": lambda request: role_of(request) in WORK,
                    },
                    _page("Videos", "video_library", "library_video_changelist", WORK),
                    _page("Questions", "forum", "questions_question_changelist", WORK),
                    _page("Searches", "search", "questions_search_changelist", WORK),
                    _page("Comparisons", "balance", "questions_comparison_changelist", WORK),
                    _page("Jobs", "pending_actions", "jobs_job_changelist", WORK),
                    _page("Outages", "power_off", "jobs_breaker_changelist", WORK),
                ],
            },
            {
                "title": "Webhooks",
                "separator": True,
                "items": [
                    _page("Deliveries", "send", "webhooks_delivery_changelist", WORK),
                    _page("Endpoints", "webhook", "webhooks_endpoint_changelist", WORK),
                ],
            },
            {
                "title": "Money",
                "separator": True,
                "items": [
                    _page("Tenants", "apartment", "tenancy_tenant_changelist"),
                    _page("Budgets", "savings", "billing_tenantbudget_changelist", MONEY),
                    _page("Usage ledger", "receipt_long", "billing_usageevent_changelist", MONEY),
                    _page("Costs by day", "balance", "billing_costday_changelist", MONEY),
                    _page("Machine hours", "memory", "billing_machineday_changelist", MONEY),
                    _page("Model rates", "speed", "billing_modelrate_changelist", MONEY),
                    _page("Checks of money", "rule", "billing_invariantresult_changelist", MONEY),
                    _page("Exports", "upload", "billing_exportstate_changelist", MONEY),
                    _page("Invoices", "request_quote", "billing_invoice_changelist", MONEY),
                    _page("Credit", "redeem", "billing_creditgrant_changelist", MONEY),
                    _page("Coupons", "confirmation_number", "billing_coupon_changelist", MONEY),
                    _page("Sellers", "storefront", "billing_legalentity_changelist", MONEY),
                    _page("Plans", "loyalty", "billing_plan_changelist", MONEY),
                    _page("Prices", "sell", "billing_price_changelist", MONEY),
                    _page("Price books", "menu_book", "billing_pricebook_changelist", MONEY),
                ],
            },
            {
                "title": "Trust",
                "separator": True,
                "items": [
                    {
                        "title": "Your second factors",
                        "icon": "passkey",
                        "link": reverse_lazy("own_factors"),
                        "permission": lambda request: role_of(request) in EVERYBODY,
                    },
                    _page("Audit log", "history", "audit_auditevent_changelist", OPERATORS),
                    _page("Staff log", "badge", "staff_staffevent_changelist", OPERATORS),
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
        """Return what every page needs, and let it show as whom the viewer is signed in."""
        if self.has_permission(request) and (words := signed_in_as_banner(request)):
            messages.warning(request, words)
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

    def extra_urls(self) -> list[URLPattern]:
        return [path("find/", self.admin_view(self.find_view), name="find")]

    def find_view(self, request: HttpRequest) -> HttpResponse:
        """Open the page of what was searched, or list what it may be."""
        text = request.GET.get("q", "")[:254]
        hits = find(text, role_of(request))
        if len(hits) == 1:
            return HttpResponseRedirect(hits[0].url)
        context = {**self.each_context(request), "title": "Find", "text": text, "hits": hits}
        return TemplateResponse(request, "console/find.html", context)

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Answer unfold's own search. Ids distinguish upper and lower case, and nothing is kept for later searches."""
        text = request.GET.get("s", "")[:254]
        if not text.strip():
            return HttpResponse()
        results = [*search_results(request, text), *self._search_apps(self.get_app_list(request), text.lower())]
        page = Paginator(results, 100).page(1)
        name = "command" if "extended" in request.GET else "search"
        context = {"page_obj": page.paginator, "results": page, "page_counter": 0, "execution_time": 0}
        return TemplateResponse(
            request, f"unfold/helpers/{name}_results.html", context, headers={"HX-Trigger": "search"}
        )

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
