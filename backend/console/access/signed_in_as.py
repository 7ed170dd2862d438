"""The tenant's own view: staff read, for a reason and a time, what the tenant's owner would read through the API.

Each page runs the API's own view in this process with the rights of a reader, so it shows neither more nor less than a
customer gets. Nothing can be changed there. The tenant's audit log shows the beginning, each page and the end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, cast
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.signals import user_logged_out
from django.core.exceptions import PermissionDenied
from django.dispatch import receiver
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET, require_POST
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from backend.api.public_ids import encode
from backend.audit.services import record
from backend.console.access.gate import member_of
from backend.console.access.viewing import SIGNED_IN_AS, origin_of
from backend.console.site import site
from backend.people.authentication import MemberAuthentication
from backend.people.roles import READ
from backend.staff import services
from backend.staff.models import ContentAccess, Member
from backend.tenancy.authentication import Principal
from backend.tenancy.context import tenant_scope

SCOPES = READ | {"usage:read", "members:read", "keys:read", "audit:read"}
PAGES = (
    "videos", "questions", "searches", "question-batches", "comparisons", "collections", "index-jobs", "uploads",
    "usage", "limits", "budgets", "prices", "invoices", "credits", "members", "api-keys", "audit-events",
)  # fmt: skip
COLUMNS = 8
_PLACES = {
    "vid": "videos", "qst": "questions", "sea": "searches", "bat": "question-batches", "cmp": "comparisons",
    "col": "collections", "job": "index-jobs", "upl": "uploads", "ivc": "invoices", "mem": "members",
    "key": "api-keys", "bud": "budgets",
}  # fmt: skip
_ID = re.compile(rf"(?:{'|'.join(_PLACES)})_[1-9A-HJ-NP-Za-km-z]{{16,22}}")


@require_GET
def page(request: HttpRequest, tenant_id: UUID, path: str = "") -> HttpResponse:
    """Show one reply of the API as the tenant's owner would get it; without a path, what there is to read."""
    member, access = _signed_in(request, tenant_id)
    with tenant_scope(tenant_id):
        record(
            "tenant.viewed_as",
            actor=origin_of(request, member),
            object_id=_subject(path) or encode("tnt", tenant_id),
            reason=access.reason,
            details={"path": f"/v1/{path}"},
        )
    context = {
        **site.each_context(request),
        "title": f"/v1/{path}" if path else "What the tenant sees",
        "pages": [(name, _url(tenant_id, name)) for name in PAGES],
        "path": path,
    }
    if not path:
        return TemplateResponse(request, "console/signed_in_as.html", context)
    reply = _reply(request, member, tenant_id, path)
    body = getattr(reply, "data", None)
    if body is None:
        raise Http404
    # The renderer of the API turns what the views return (ids, times, decimals) into JSON.
    shown = json.loads(cast(Any, reply).rendered_content)
    context |= {"status": reply.status_code, **_shown(shown, tenant_id, path, request.GET)}
    return TemplateResponse(request, "console/signed_in_as.html", context, status=reply.status_code)


@require_POST
def leave(request: HttpRequest) -> HttpResponse:
    """End it before its time."""
    state, member = request.session.pop(SIGNED_IN_AS, None), member_of(request)
    if state is None or member is None:
        return HttpResponseRedirect(reverse("admin:index"))
    _end(request, member, state)
    return HttpResponseRedirect(reverse("admin:tenancy_tenant_change", args=[state["tenant"]]))


@receiver(user_logged_out)
def _leave_at_sign_out(sender: object, request: HttpRequest | None, **_: Any) -> None:
    state = request.session.get(SIGNED_IN_AS) if request is not None else None
    member = member_of(request) if request is not None else None
    if request is not None and member is not None and state:
        _end(request, member, state)


def _end(request: HttpRequest, member: Member, state: Mapping[str, Any]) -> None:
    """Take the access to the tenant's content away, and record it unless it had ended already."""
    ended, _ = ContentAccess.objects.filter(id=state["access"], person_id=member.person_id).delete()
    if ended:
        tenant_id = UUID(state["tenant"])
        with tenant_scope(tenant_id):
            record("tenant.signed_out_as", actor=origin_of(request, member), object_id=encode("tnt", tenant_id))


def _signed_in(request: HttpRequest, tenant_id: UUID) -> tuple[Member, ContentAccess]:
    """Return who reads, and the access that allows it. Raises PermissionDenied without one."""
    member, state = member_of(request), request.session.get(SIGNED_IN_AS, {})
    access = services.access_to(member, tenant_id) if member is not None else None
    mine = state.get("tenant") == str(tenant_id)
    if member is None or access is None or not mine or not _lasts(state):
        raise PermissionDenied("Sign in as the tenant on its page, with a reason.")
    return member, access


def _lasts(state: Mapping[str, Any]) -> bool:
    return ContentAccess.objects.filter(id=state["access"], expires_at__gt=timezone.now()).exists()


def _reply(request: HttpRequest, member: Member, tenant_id: UUID, path: str) -> HttpResponse:
    """Return what the API answers to a reader of the tenant. Raises Http404 for what is no page of the API."""
    try:
        found = resolve(f"/v1/{path}", urlconf="backend.urls")
    except Resolver404 as missing:
        raise Http404 from missing
    view: Any = found.func
    accepted = getattr(getattr(view, "view_class", None), "authentication_classes", ())
    if path.endswith("/stream") or MemberAuthentication not in accepted:
        raise Http404
    asked = copy(request)
    asked.path = asked.path_info = f"/v1/{path}"
    asked.META = {**request.META, "HTTP_ACCEPT": "application/json"}
    asked.reader = member  # type: ignore[attr-defined]
    made = view.view_class.as_view(**{**view.view_initkwargs, "authentication_classes": [_reader_of(tenant_id)]})
    reply: HttpResponse = made(asked, *found.args, **found.kwargs)
    return reply


def _reader_of(tenant_id: UUID) -> type[BaseAuthentication]:
    """Return an authentication by which the staff of a request reads a tenant."""

    class Reader(BaseAuthentication):
        def authenticate(self, request: Request) -> tuple[Any, Principal]:
            member: Member = request._request.reader  # type: ignore[attr-defined]
            rights = Principal(
                tenant_id=tenant_id,
                api_key_id=None,
                scopes=SCOPES,
                person_id=member.person_id,
                name=member.person.email,
                role="staff",
                fresh=False,
            )
            return member.person, rights

    return Reader


def _shown(body: Any, tenant_id: UUID, path: str, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the parts of a reply for the template: a table of the rows of a list, or the facts of one thing."""
    rows = body.get("data") if isinstance(body, dict) else body
    if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
        columns = _columns(rows)
        table = [[_linked(row.get(name), tenant_id) for name in columns] for row in rows]
        following = body.get("next_cursor") if isinstance(body, dict) else None
        more = f"?{urlencode({**query, 'cursor': following})}" if following else ""
        return {"columns": columns, "table": table, "more": more, "listed": True}
    facts = body.items() if isinstance(body, dict) else [("value", body)]
    plain = [(name, _linked(value, tenant_id)) for name, value in facts if not isinstance(value, (dict, list))]
    nested = [
        (name, _linked_text(_written(value), tenant_id)) for name, value in facts if isinstance(value, (dict, list))
    ]
    return {"facts": plain, "nested": nested}


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    names = dict.fromkeys(name for row in rows for name, value in row.items() if not isinstance(value, (dict, list)))
    return list(names)[:COLUMNS]


def _written(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _linked(value: Any, tenant_id: UUID) -> SafeString | str:
    if value is None:
        return "–"
    return _linked_text(value if isinstance(value, str) else json.dumps(value), tenant_id)


def _linked_text(text: str, tenant_id: UUID) -> SafeString:
    """Return text as HTML in which each public id leads to its page."""
    shown = SafeString("")
    at = 0
    for match in _ID.finditer(text):
        place = _PLACES[match[0].partition("_")[0]]
        shown += format_html(
            '{}<a href="{}">{}</a>', text[at : match.start()], _url(tenant_id, f"{place}/{match[0]}"), match[0]
        )
        at = match.end()
    return shown + format_html("{}", text[at:])


def _subject(path: str) -> str:
    found = _ID.search(path)
    return found[0] if found else ""


def _url(tenant_id: UUID, path: str) -> str:
    return reverse("signed_in_as", args=[tenant_id, path])
