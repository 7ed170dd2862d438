"""What staff may see, and the record of what they opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from backend.api.public_ids import encode
from backend.audit.services import Actor, record
from backend.console.access.gate import member_of
from backend.staff import services
from backend.staff.models import ContentAccess, Member, Role
from backend.tenancy.context import tenant_scope
from backend.tenancy.models import Tenant
from backend.tenancy.networks import client_address

EVERYBODY = frozenset(Role)
WORK = frozenset({Role.SUPPORT, Role.SUPPORT_CONTENT, Role.OPERATOR})
MONEY = frozenset({Role.FINANCE, Role.OPERATOR})
OPERATORS = frozenset({Role.OPERATOR})
SIGNED_IN_AS = "signed_in_as"
"""Key of the browser's session: the access of somebody who is signed in as a tenant, with what the banner shows."""

_PREFIXES = {
    "video": "vid", "question": "qst", "search": "sea", "comparison": "cmp", "job": "job", "endpoint": "whe",
    "delivery": "whd", "invoice": "ivc", "tenant": "tnt", "tenantbudget": "bud", "auditevent": "aud",
}  # fmt: skip


class ContentClosed(Exception):
    """A page shows content of a tenant, and the viewer has no access to it now. url: where a reason can be stated."""

    def __init__(self, url: str) -> None:
        super().__init__("content is closed")
        self.url = url


def role_of(request: HttpRequest) -> str:
    """Return the viewer's role; "" for nobody."""
    member = member_of(request)
    return "" if member is None else str(member.role)


def origin_of(request: HttpRequest, member: Member) -> Actor:
    """Return the viewer as the audit log names them."""
    return services.actor(member, address=client_address(request), request_id=getattr(request, "request_id", ""))


def tenant_of(row: Any) -> UUID | None:
    """Return the tenant that a row belongs to, or that it is; None for a row of the installation."""
    if row._meta.model_name == "tenant":
        return UUID(str(row.pk))
    return getattr(row, "tenant_id", None)


def record_view(request: HttpRequest, row: Any, *, content: bool) -> None:
    """Append to the tenant's audit log that the viewer opens this row.

    content: whether the page shows what customers recorded, asked or configured. Raises ContentClosed without access.
    """
    member, tenant_id = member_of(request), tenant_of(row)
    if member is None or tenant_id is None:
        return
    reason = ""
    if content:
        access = services.access_to(member, tenant_id)
        if access is None:
            query = urlencode({REDIRECT_FIELD_NAME: request.get_full_path()})
            raise ContentClosed(f"{reverse('open_content', args=[tenant_id])}?{query}")
        reason = access.reason
    record_act(request, row, "viewed", reason=reason)


def public_id_of(row: Any) -> str:
    """Return the public id of a row, or its key if rows of its kind have none."""
    name = row._meta.model_name
    return encode(_PREFIXES[name], row.pk) if name in _PREFIXES and isinstance(row.pk, UUID) else str(row.pk)


def record_act(
    request: HttpRequest, row: Any, verb: str, *, reason: str = "", details: Mapping[str, str] | None = None
) -> None:
    """Append to the tenant's audit log that the viewer did something to this row. details: what the act was given."""
    member, tenant_id = member_of(request), tenant_of(row)
    if member is None or tenant_id is None:
        return
    action, object_id = f"{row._meta.model_name}.{verb}", public_id_of(row)
    with tenant_scope(tenant_id):
        record(action, actor=origin_of(request, member), object_id=object_id, reason=reason, details=details)


def sees_content(request: HttpRequest) -> bool:
    """Whether a list may show content: it is narrowed to one tenant, to whose content the viewer has access now."""
    member = member_of(request)
    try:
        tenant_id = UUID(request.GET.get("tenant", ""))
    except ValueError:
        return False
    return member is not None and services.access_to(member, tenant_id) is not None


def signed_in_as_banner(request: HttpRequest) -> SafeString | None:
    """Return what every page of the console says while somebody is signed in as a tenant; None otherwise."""
    state = request.session.get(SIGNED_IN_AS)
    if not state or state["expires_at"] <= timezone.now().timestamp():
        return None
    return format_html(
        '<form method="post" action="{}" class="c-inline"><input type="hidden" name="csrfmiddlewaretoken" value="{}">'
        'You are signed in as <a href="{}">{}</a> until {}: {} <button>Leave</button></form>',
        reverse("leave_signed_in_as"),
        get_token(request),
        reverse("signed_in_as_home", args=[state["tenant"]]),
        state["name"],
        state["until"],
        state["reason"],
    )


def signed_in_as(access: ContentAccess, tenant: Tenant) -> dict[str, Any]:
    """Return what the browser's session keeps while somebody is signed in as a tenant."""
    until = access.expires_at.strftime("%Y-%m-%d %H:%M UTC")
    facts = {"access": str(access.id), "tenant": str(tenant.id), "name": tenant.name, "slug": tenant.slug}
    return {
        SIGNED_IN_AS: {**facts, "until": until, "expires_at": access.expires_at.timestamp(), "reason": access.reason}
    }
