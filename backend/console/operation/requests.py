"""The page of the API's latest requests: by tenant, key, route, status and latency, with the sums of each route."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import redis
from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from backend.api.monitoring import recent_requests
from backend.api.monitoring.recent_requests import ALL, FAILED, KEPT_DAYS, MOST, MOST_OF_TENANT, SLOW_MS, Seen
from backend.api.public_ids import encode
from backend.console.access.viewing import WORK, role_of
from backend.console.base import uuid_in
from backend.console.queries.money import names_of
from backend.console.site import site

SHOWN = 100
"""Requests and routes that the page lists."""


class RequestsForm(forms.Form):
    """What the requests are restricted to. status: a status or its first digits, such as 4 or 40."""

    which = forms.ChoiceField(choices=[("", "all"), ("failed", "failed or slow")], required=False, label="Requests")
    request = forms.CharField(required=False, max_length=64, label="Request id")
    tenant = forms.CharField(required=False, max_length=64, label="Tenant (tnt_…)")
    caller = forms.CharField(required=False, max_length=64, label="Key or member")
    route = forms.CharField(required=False, max_length=100, label="Route contains")
    status = forms.RegexField(r"^[1-5][0-9]{0,2}$", required=False, label="Status")
    least_ms = forms.IntegerField(required=False, min_value=0, max_value=10**7, label="At least ms")

    def clean_tenant(self) -> str:
        """Return the tenant's public id; what is none stays as it is, and no request has it."""
        given: str = self.cleaned_data["tenant"]
        id = uuid_in(given) if given else None
        return given if id is None else encode("tnt", id)


@dataclass(frozen=True, slots=True)
class RouteSums:
    """The requests of one route. p50, p95, p99: milliseconds. refused: answered with 4xx. failed: answered with 5xx."""

    method: str
    route: str
    requests: int
    refused: int
    failed: int
    p50: int
    p95: int
    p99: int


@require_safe
def requests_page(request: HttpRequest) -> HttpResponse:
    """Show the latest requests that match the form, and their sums by route."""
    if role_of(request) not in WORK:
        raise PermissionDenied
    form = RequestsForm(request.GET)
    wanted: dict[str, Any] = form.cleaned_data if form.is_valid() else {}
    found: list[Seen] = []
    away = ""
    try:
        if form.is_valid():
            found = [line for line in recent_requests.latest(_stream(wanted)) if _matches(line, wanted)]
    except redis.RedisError as error:
        away = type(error).__name__
    shown = found[:SHOWN]
    names = _tenants(shown)
    context = {
        **site.each_context(request),
        "title": "Requests",
        "form": form,
        "away": away,
        "total": len(found),
        "lines": [(line, *names.get(line.tenant, (line.tenant, ""))) for line in shown],
        "routes": sums(found)[:SHOWN],
        "most": MOST,
        "most_of_tenant": MOST_OF_TENANT,
        "kept_days": KEPT_DAYS,
        "slow_ms": SLOW_MS,
    }
    return TemplateResponse(request, "console/requests.html", context)


def _stream(wanted: dict[str, Any]) -> str:
    if wanted["which"] == "failed":
        return FAILED
    return recent_requests.stream_of(wanted["tenant"]) if wanted["tenant"] else ALL


def _matches(line: Seen, wanted: dict[str, Any]) -> bool:
    return (
        (not wanted["tenant"] or line.tenant == wanted["tenant"])
        and (not wanted["request"] or line.request == wanted["request"])
        and (not wanted["caller"] or line.caller == wanted["caller"])
        and wanted["route"].lower() in line.route.lower()
        and str(line.status).startswith(wanted["status"])
        and line.ms >= (wanted["least_ms"] or 0)
    )


def sums(lines: Sequence[Seen]) -> list[RouteSums]:
    """Return the sums of each method and route, those with the most time together first."""
    grouped: defaultdict[tuple[str, str], list[Seen]] = defaultdict(list)
    for line in lines:
        grouped[line.method, line.route].append(line)
    found = []
    for (method, route), members in sorted(grouped.items(), key=lambda pair: -sum(line.ms for line in pair[1])):
        times = sorted(line.ms for line in members)
        percentiles = [times[min(len(times) - 1, len(times) * percent // 100)] for percent in (50, 95, 99)]
        refused = sum(400 <= line.status < 500 for line in members)
        failed = sum(line.status >= 500 for line in members)
        found.append(RouteSums(method, route, len(members), refused, failed, *percentiles))
    return found


def _tenants(lines: Sequence[Seen]) -> dict[str, tuple[str, str]]:
    """Return the name and the page of each tenant, by public id."""
    ids = {line.tenant: uuid_in(line.tenant) for line in lines if line.tenant}
    names = names_of([id for id in ids.values() if id is not None])
    return {
        shown: (names[id]["name"], reverse("admin:tenancy_tenant_change", args=[id]))
        for shown, id in ids.items()
        if id is not None and id in names
    }
