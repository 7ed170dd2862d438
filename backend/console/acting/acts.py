"""What staff may do: an act on a row, its roles, the fields that it asks for, and how it is run and recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse

from backend.api.public_ids import encode
from backend.audit.services import SHORTEST_REASON, Actor, record
from backend.console.access.gate import member_of
from backend.console.access.viewing import OPERATORS, origin_of, record_act, tenant_of
from backend.staff import sign_in
from backend.staff.models import Role
from backend.tenancy.context import tenant_scope
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused


@dataclass(frozen=True, slots=True)
class By:
    """Who acts, and why."""

    actor: Actor
    reason: str


@dataclass(frozen=True, slots=True)
class Done:
    """The outcome of an act in words. url: where the person goes next, "" for the page of the row. keeps: what the
    browser's session keeps from now on."""

    words: str
    url: str = ""
    keeps: Mapping[str, Any] = field(default_factory=dict)


Run = Callable[[Any, Mapping[str, Any], By], object]


@dataclass(frozen=True, slots=True)
class Act:
    """Something that staff may do to a row.

    name: its name in addresses, in forms and in the log. title: its words on a page. run: does it, with the row, the
    cleaned fields of the form, and who acts; it returns a row to go to, a Done, or nothing. form: what the act asks for
    besides the reason; an act with a form is offered for one row only. fits: whether it makes sense in the row's
    present state. records: whether it appends to the audit log itself. enters: whether it enters the tenant itself, in
    transactions of its own; else it runs in one transaction in the tenant of the row, as the web role reads the row.
    fresh: whether the session must have passed a second factor in the last minutes.
    """

    name: str
    title: str
    run: Run
    roles: frozenset[Role] = OPERATORS
    form: type[forms.Form] | None = None
    fits: Callable[[Any], bool] = lambda row: True
    explains: str = ""
    dangerous: bool = False
    records: bool = False
    enters: bool = False
    fresh: bool = False


def named(*acts: Act) -> dict[str, Act]:
    """Return acts by their name."""
    return {act.name: act for act in acts}


def perform(act: Act, request: HttpRequest, row: Any, fields: Mapping[str, Any] | None = None) -> object:
    """Run an act on a row, and record who did it and why. row: None for an act that makes a row.

    Raises PermissionDenied for another role, Refused without a reason, `reauthentication_required` for an act that
    needs a fresh second factor, or as the act does.
    """
    member = member_of(request)
    if member is None or member.role not in act.roles:
        raise PermissionDenied
    if act.fresh and not sign_in.is_fresh(request):
        detail = f"Confirm your second factor at {reverse('second_factor')} first, then do this again."
        raise Refused("reauthentication_required", detail, status=403)
    by, values = By(origin_of(request, member), _reason_of(request)), fields or {}
    tenant_id = None if row is None else tenant_of(row)
    if tenant_id is None:
        result = act.run(row, values, by)
        if not act.records:
            _note(act, request, row, by.reason)
        return result
    if act.enters:
        return act.run(row, values, by)
    with tenant_scope(tenant_id):
        result = act.run(_mine(row), values, by)
        if not act.records:
            record_act(request, row, act.name, reason=by.reason, details={name: str(values[name]) for name in values})
        return result


def record_in_tenant(action: str, tenant: Tenant, by: By, details: Mapping[str, Any]) -> None:
    """Append an act on a tenant to the audit log of the entered tenant, which is this one."""
    record(action, actor=by.actor, object_id=encode("tnt", tenant.id), reason=by.reason, details=details)


def _reason_of(request: HttpRequest) -> str:
    """Return the reason that was stated. Raises Refused if it is too short to say something."""
    reason = request.POST.get("reason", "").strip()
    if len(reason) < SHORTEST_REASON:
        raise Refused("reason_missing", f"State a reason of at least {SHORTEST_REASON} characters.")
    return reason[:500]


def _note(act: Act, request: HttpRequest, row: Model, reason: str) -> None:
    """Append an act on a row of the installation to the log of the staff."""
    email = str(getattr(request.user, "email", ""))
    sign_in.note(request, f"{row._meta.model_name}.{act.name}", email, row=str(row.pk), reason=reason)


def _mine(row: Model) -> Any:
    model: Any = type(row)
    return model.objects.get(id=row.pk)
