"""Finds what an id, a request id, a slug or an e-mail address names, and the page of the console that shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import redis
from django.http import HttpRequest
from django.urls import reverse
from unfold.dataclasses import SearchResult

from backend.api.monitoring import recent_requests
from backend.api.monitoring.recent_requests import ALL, FAILED
from backend.api.public_ids import encode
from backend.console.access.viewing import MONEY, WORK, role_of
from backend.console.base import uuid_in
from backend.console.queries import finds
from backend.console.queries.finds import Found
from backend.console.video.timeline import AT
from backend.staff.models import Role


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of row that has public ids. table: where the rows lie. page: the address of the page that shows a row.

    roles: who may open the page; None for everybody. also: another table whose rows have ids of this kind.
    """

    name: str
    table: str
    page: Callable[[Found], str]
    roles: frozenset[Role] | None = WORK
    also: str = ""


def _detail(name: str) -> Callable[[Found], str]:
    return lambda found: reverse(f"admin:{name}_change", args=[found.id])


def _tenant(found: Found) -> str:
    return reverse("admin:tenancy_tenant_change", args=[found.tenant_id])


def _list(name: str, **query: Callable[[Found], Any]) -> Callable[[Found], str]:
    def page(found: Found) -> str:
        words = {key: value(found) for key, value in query.items()}
        return f"{reverse(f'admin:{name}_changelist')}?{urlencode({**words, 'tenant': found.tenant_id})}"

    return page


def _video(listed: str = "") -> Callable[[Found], str]:
    """Return the pages of videos at the moment of what was found. listed: the list of marks that opens there."""

    def page(found: Found) -> str:
        address = reverse("admin:library_video_change", args=[found.parent_id])
        if found.at_ms is None:
            return address
        query = urlencode({"at": found.at_ms, **({listed: AT} if listed else {})})
        return f"{address}?{query}" + (f"#{listed}" if listed else "")

    return page


def _question(found: Found) -> str:
    return reverse("admin:questions_question_change", args=[found.parent_id])


KINDS: dict[str, Kind] = {
    "vid": Kind("video", "library_video", _detail("library_video")),
    "qst": Kind("question", "questions_question", _detail("questions_question")),
    "sea": Kind("search", "questions_search", _detail("questions_search")),
    "cmp": Kind("comparison", "questions_comparison", _detail("questions_comparison")),
    "job": Kind("job", "jobs_job", _detail("jobs_job")),
    "whe": Kind("endpoint", "webhooks_endpoint", _detail("webhooks_endpoint")),
    "whd": Kind("delivery", "webhooks_delivery", _detail("webhooks_delivery")),
    "aud": Kind("audit event", "audit_auditevent", _detail("audit_auditevent"), frozenset({Role.OPERATOR})),
    "tnt": Kind("tenant", "tenancy_tenant", _tenant, None),
    "key": Kind("API key", "tenancy_apikey", _tenant, None),
    "mem": Kind("member", "people_membership", _tenant, None),
    "inv": Kind("invitation", "people_invitation", _tenant, None),
    "bud": Kind("budget", "billing_budget", _tenant, MONEY, "billing_tenantbudget"),
    "ivc": Kind("invoice", "billing_invoice", _detail("billing_invoice"), MONEY),
    "use": Kind("row of usage", "billing_usageevent", _detail("billing_usageevent"), MONEY),
    "cre": Kind("credit", "billing_creditgrant", _tenant, MONEY),
    "shr": Kind("share", "shares_share", _tenant),
    "clp": Kind("clip", "clips_clip", _video()),
    "bat": Kind("batch", "questions_questionbatch", _list("questions_question", batch__exact=lambda one: one.id)),
    "ses": Kind("session", "questions_session", _list("questions_question", session__exact=lambda one: one.id)),
    "col": Kind("collection", "library_collection", _list("library_video", collection__exact=lambda one: one.id)),
    "upl": Kind("upload", "library_upload", _list("library_video", upload__exact=lambda one: one.id)),
    "msg": Kind("webhook event", "webhooks_webhookevent", _list("webhooks_delivery", q=lambda one: one.id)),
    "seg": Kind("segment", "library_segment", _video()),
    "nod": Kind("step of an answer", "questions_node", _question),
    "evt": Kind("event", "ekg_event", _video("events")),
    "ent": Kind("entity", "ekg_entity", _video("events")),
    "rel": Kind("relation", "ekg_relation", _video("events")),
    "frm": Kind("frame", "ekg_frame", _video("events")),
    "chk": Kind("chunk", "ekg_chunk", _video("events")),
    "trn": Kind("line of speech", "ekg_transcriptline", _video("speech")),
    "trk": Kind("track", "ekg_track", _video("objects")),
    "obj": Kind("object", "ekg_trackedobject", _video("objects")),
}
"""Kinds by the prefix of their ids. The prefix `per` names people, who belong to no tenant."""
_PLAIN = (
    "tnt",
    "vid",
    "qst",
    "job",
    "sea",
    "cmp",
    "whe",
    "whd",
    "key",
    "upl",
    "col",
    "bat",
    "ses",
    "mem",
    "aud",
    "ivc",
)
"""Kinds that a UUID without a prefix is looked for in."""


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that was found. what: its kind in words. name: its public id or name. url: the page that shows it."""

    what: str
    name: str
    url: str
    tenant: str = ""


def find(text: str, role: str) -> list[Hit]:
    """Return what a text names, among the pages that a role may open: at most 20 hits, each id looked for by index."""
    text = text.strip()
    if len(text) < 2:
        return []
    found = uuid_in(text)
    prefix = text[:3] if "_" in text[:4] else ""
    if found is not None and prefix == "per":
        return _memberships(found, text)
    if found is not None:
        return _by_id(found, (prefix,) if prefix else _PLAIN, role)
    if "@" in text:
        person = finds.person_id(text)
        return [] if person is None else _memberships(person, text)
    if text.startswith("req_"):
        return _by_request(text, role)
    return [
        Hit("tenant", row["name"], reverse("admin:tenancy_tenant_change", args=[row["id"]]), row["slug"])
        for row in finds.tenants_like(text)
    ]


def _by_id(id: UUID, prefixes: tuple[str, ...], role: str) -> list[Hit]:
    kinds = [(prefix, KINDS[prefix]) for prefix in prefixes if prefix in KINDS]
    allowed = [(prefix, kind) for prefix, kind in kinds if kind.roles is None or role in kind.roles]
    return [
        Hit(kind.name, encode(prefix, row.id), kind.page(row), row.tenant)
        for prefix, kind in allowed
        for table in (kind.table, kind.also)
        if table
        for row in finds.by_id(table, id)
    ]


def _by_request(request_id: str, role: str) -> list[Hit]:
    """Return what the audit logs say of a request, and its line among the latest requests of the API."""
    hits = [Hit("request", request_id, url)] if role in WORK and (url := _page_of_request(request_id)) else []
    if role == Role.OPERATOR:
        hits += [
            Hit(row["action"], request_id, reverse("admin:audit_auditevent_change", args=[row["id"]]), row["tenant"])
            for row in finds.by_request(request_id)
        ]
    return hits


def _page_of_request(request_id: str) -> str:
    """Return the address of the page that shows a request, "" if it is not among the latest."""
    try:
        for which, stream in (("", ALL), ("failed", FAILED)):
            if any(line.request == request_id for line in recent_requests.latest(stream)):
                return f"{reverse('requests')}?{urlencode({'request': request_id, 'which': which})}"
    except redis.RedisError:
        return ""
    return ""


def _memberships(person_id: UUID, name: str) -> list[Hit]:
    return [
        Hit(f"{row['role']} of {row['tenant']}", name, _tenant(Found(row["id"], row["tenant_id"])), row["tenant"])
        for row in finds.memberships(person_id)
    ]


def search_results(request: HttpRequest, text: str) -> list[SearchResult]:
    """Return the hits as unfold's search shows them."""
    return [
        SearchResult(title=hit.name, description=f"{hit.what}, {hit.tenant}".strip(", "), link=hit.url, icon="search")
        for hit in find(text, role_of(request))
    ]
