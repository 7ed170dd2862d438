"""What staff may do to one row: an act, the fields that it asks for, and how it is run and recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.db import connection
from django.db.models import Model
from django.http import HttpRequest

from backend.console.gate import member_of
from backend.console.viewing import origin_of, record_act, tenant_of
from backend.staff import sign_in
from backend.staff.services import SHORTEST_REASON
from backend.tenancy.context import tenant_scope
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused


@dataclass(frozen=True, slots=True)
class Act:
    """Something that operators may do to a row.

    run: does it, in the tenant of the row; it gets the row as the web role reads it, and the cleaned fields of the
    form. If it returns a row, the browser goes there. form: what it asks for besides the reason; an act with a form is
    offered on the page of one row only.
    """

    run: Callable[..., object]
    form: type[forms.Form] | None = None


def verb_of(words: str) -> str:
    """Return the name of an act for the audit log and for forms: "Put first" is put_first."""
    return words.lower().replace(" ", "_")


def reason_of(request: HttpRequest) -> str:
    """Return the reason that was stated. Raises Refused if it is too short to say something."""
    reason = request.POST.get("reason", "").strip()
    if len(reason) < SHORTEST_REASON:
        raise Refused("reason_missing", f"State a reason of at least {SHORTEST_REASON} characters.")
    return reason[:500]


def run(act: Act, words: str, request: HttpRequest, row: Any, fields: dict[str, Any] | None = None) -> object:
    """Run an act on a row, and record who did it and why, in one transaction with the act if the row has a tenant.

    Raises Refused without a reason, or as the act does.
    """
    reason, tenant_id = reason_of(request), tenant_of(row)
    values = fields or {}
    if tenant_id is None:
        result = act.run(row, **values)
        name = row._meta.model_name
        sign_in.note(
            request, f"{name}.{verb_of(words)}", str(getattr(request.user, "email", "")), row=str(row.pk), reason=reason
        )
        return result
    with tenant_scope(tenant_id):
        if isinstance(row, Tenant):
            return _run_on_tenant(act, request, reason, values)
        result = act.run(_mine(row), **values)
        record_act(request, row, verb_of(words), reason=reason)
        _settle_sums()
        return result


def _settle_sums() -> None:
    """Let the sums of the ledger be written now. They wait for the end of the request's transaction otherwise, and an
    act on the row of another tenant has entered that tenant by then."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def _run_on_tenant(act: Act, request: HttpRequest, reason: str, fields: dict[str, Any]) -> object:
    """Run an act of the accounts, which record themselves who acts and why."""
    member = member_of(request)
    if member is None:
        raise Refused("not_staff", "Sign in again.")
    if not act.run(actor=origin_of(request, member), reason=reason, **fields):
        raise Refused("nothing_to_do", "The tenant is in this state already.")
    return True


def _mine(row: Model) -> Any:
    model: Any = type(row)
    return model.objects.get(id=row.pk)
