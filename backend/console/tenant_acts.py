"""What staff may do to a tenant: each act has its roles, its form with a reason, and a row in the audit log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms
from django.urls import reverse
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminEmailInputWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from backend.accounts import suspension
from backend.api.public_ids import encode
from backend.audit.services import Actor, record
from backend.billing.currencies import CURRENCIES
from backend.billing.models import Plan
from backend.billing.rates import plain
from backend.billing.services.credit_grants import grant_credit
from backend.billing.services.plans import subscribe
from backend.console import signed_in_as
from backend.console.queries.role import CONSOLE
from backend.console.viewing import MONEY, OPERATORS
from backend.erasure.services.tenants import ask_for_erasure
from backend.people.models import Role as MemberRole
from backend.people.services.invitations import invite
from backend.staff import services
from backend.staff.models import Role
from backend.staff.services import SHORTEST_REASON
from backend.tenancy.context import tenant_scope
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused
from backend.tenancy.services import create_tenant


@dataclass(frozen=True, slots=True)
class Done:
    """The outcome of an act in words. url: where the person goes next, "" for the page of the tenant. keeps: what the
    browser's session keeps from now on."""

    words: str
    url: str = ""
    keeps: Mapping[str, Any] = field(default_factory=dict)


class ActForm(forms.Form):
    """The form of an act. Every act has a reason, which the tenant's audit log shows."""

    reason = forms.CharField(
        min_length=SHORTEST_REASON,
        max_length=500,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text="The tenant's audit log shows the reason.",
    )

    def __init__(self, tenant: Tenant | None, data: Mapping[str, Any] | None) -> None:
        self.tenant = tenant
        super().__init__(data)
        # The reason comes last.
        self.order_fields([*[name for name in self.fields if name != "reason"], "reason"])


class CreateForm(ActForm):
    """A new tenant with the address of its first owner."""

    name = forms.CharField(max_length=200, widget=UnfoldAdminTextInputWidget())
    slug = forms.SlugField(
        max_length=63, widget=UnfoldAdminTextInputWidget(), help_text="Lower-case letters, digits and hyphens."
    )
    plan = forms.ChoiceField(widget=UnfoldAdminSelectWidget())
    owner = forms.EmailField(
        required=False,
        widget=UnfoldAdminEmailInputWidget(),
        help_text="The address that is invited as the first owner.",
    )

    def __init__(self, tenant: Tenant | None, data: Mapping[str, Any] | None) -> None:
        super().__init__(tenant, data)
        self.fields["plan"] = _plan_field()
        self.order_fields(["name", "slug", "plan", "owner", "reason"])


class PlanForm(ActForm):
    """The plan that a tenant has from now on."""

    def __init__(self, tenant: Tenant | None, data: Mapping[str, Any] | None) -> None:
        super().__init__(tenant, data)
        self.fields["plan"] = _plan_field(tenant.plan if tenant else "")
        self.order_fields(["plan", "reason"])


class CreditForm(ActForm):
    """An amount of money that pays the tenant's next invoices."""

    amount = forms.DecimalField(min_value=0, max_digits=16, decimal_places=4, widget=UnfoldAdminDecimalFieldWidget())
    currency = forms.ChoiceField(
        choices=[(code, code) for code in CURRENCIES],
        widget=UnfoldAdminSelectWidget(choices=[(code, code) for code in CURRENCIES]),
    )
    expires_on = forms.DateField(
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs={"type": "date"}),
        help_text="The first day (UTC) on which the credit is gone; empty for never.",
    )


class EraseForm(ActForm):
    """The slug again, because an erasure cannot be undone."""

    slug = forms.CharField(
        max_length=63,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="The slug of the tenant. An erasure cannot be undone.",
    )


class SignInForm(ActForm):
    """How long somebody stays signed in as the tenant."""

    minutes = forms.TypedChoiceField(
        choices=[("15", "15 minutes"), ("30", "30 minutes"), ("60", "an hour")],
        coerce=int,
        widget=UnfoldAdminSelectWidget(),
    )


def _plan_field(initial: str = "") -> forms.ChoiceField:
    choices = [(plan.code, plan.name) for plan in Plan.objects.using(CONSOLE).order_by("name")]
    return forms.ChoiceField(choices=choices, initial=initial, widget=UnfoldAdminSelectWidget(choices=choices))


Run = Callable[[Any, Mapping[str, Any], Actor], Done]


@dataclass(frozen=True, slots=True)
class TenantAct:
    """One thing that staff may do to a tenant. fits: whether it makes sense in the tenant's present state."""

    name: str
    title: str
    roles: frozenset[Role]
    run: Run
    form: type[ActForm] = ActForm
    fits: Callable[[Tenant], bool] = lambda tenant: True
    explains: str = ""
    dangerous: bool = False

    def form_of(self, tenant: Tenant | None, data: Mapping[str, Any] | None) -> ActForm:
        """Return the form, filled in with the data that was sent."""
        return self.form(tenant, data)


def _create(_: Tenant | None, values: Mapping[str, Any], actor: Actor) -> Done:
    tenant = create_tenant(name=values["name"], slug=values["slug"])
    with tenant_scope(tenant.id):
        Tenant.objects.filter(id=tenant.id).update(plan=values["plan"])
        record(
            "tenant.created",
            actor=actor,
            object_id=encode("tnt", tenant.id),
            reason=values["reason"],
            details={"plan": values["plan"]},
        )
        if not values["owner"]:
            return Done(f"{tenant.name} was created.")
        invitation, link = invite(
            email=values["owner"],
            role=MemberRole.OWNER,
            collection_ids=None,
            by_person=None,
            by_name=actor.name,
            by_owner=True,
        )
    sent = f"The invitation was mailed to {values['owner']}." if invitation.mailed else f"Invitation: {link}"
    return Done(f"{tenant.name} was created. {sent}")


def _suspend(tenant: Tenant, values: Mapping[str, Any], actor: Actor) -> Done:
    with tenant_scope(tenant.id):
        if not suspension.suspend(actor=actor, reason=values["reason"]):
            raise Refused("nothing_to_do", "The tenant is suspended already.")
    return Done(f"{tenant.name} is suspended.")


def _resume(tenant: Tenant, values: Mapping[str, Any], actor: Actor) -> Done:
    with tenant_scope(tenant.id):
        if not suspension.resume(actor=actor, reason=values["reason"]):
            raise Refused("nothing_to_do", "The tenant is not suspended.")
    return Done(f"The suspension of {tenant.name} ended.")


def _erase(tenant: Tenant, values: Mapping[str, Any], actor: Actor) -> Done:
    if values["slug"] != tenant.slug:
        raise Refused("slug_mismatch", "This is not the slug of the tenant.")
    with tenant_scope(tenant.id):
        record("tenant.erasure_ordered", actor=actor, object_id=encode("tnt", tenant.id), reason=values["reason"])
    ask_for_erasure(tenant.id, slug=values["slug"], actor=actor)
    return Done(f"{tenant.name} is suspended for good, and is erased in a minute.")


def _change_plan(tenant: Tenant, values: Mapping[str, Any], actor: Actor) -> Done:
    with tenant_scope(tenant.id):
        row = subscribe(plan=values["plan"], author=actor.name, reason=values["reason"])
        record(
            "tenant.plan_changed",
            actor=actor,
            object_id=encode("tnt", tenant.id),
            reason=values["reason"],
            details={"from": tenant.plan, "to": values["plan"], "version": row.plan_version.version},
        )
    return Done(f"{tenant.name} has the plan {values['plan']} from now on.")


def _grant_credit(tenant: Tenant, values: Mapping[str, Any], actor: Actor) -> Done:
    last = values["expires_on"]
    with tenant_scope(tenant.id):
        grant = grant_credit(
            amount=values["amount"],
            currency=values["currency"],
            reason=values["reason"],
            author=actor.name,
            expires_at=None if last is None else datetime.combine(last, time(), UTC),
        )
        record(
            "tenant.credit_granted",
            actor=actor,
            object_id=encode("tnt", tenant.id),
            reason=values["reason"],
            details={"amount": plain(grant.amount), "currency": grant.currency},
        )
    return Done(f"{plain(grant.amount)} {grant.currency} were granted to {tenant.name}.")


def _sign_in_as(tenant: Tenant, values: Mapping[str, Any], actor: Actor) -> Done:
    if actor.id is None:
        raise Refused("not_staff", "Sign in again.")
    access = services.sign_in_as(
        person_id=actor.id,
        tenant_id=tenant.id,
        reason=values["reason"],
        span=timedelta(minutes=values["minutes"]),
        origin=actor,
    )
    url = reverse("signed_in_as_home", args=[tenant.id])
    return Done(f"Your time as {tenant.name} has begun.", url, signed_in_as.kept(access, tenant))


CREATE = TenantAct("create", "Create a tenant", OPERATORS, _create, CreateForm)
ACTS: dict[str, TenantAct] = {
    act.name: act
    for act in (
        TenantAct(
            "plan", "Change the plan", MONEY, _change_plan, PlanForm,
            explains="The tenant is billed by the present version of the plan from now on.",
        ),
        TenantAct(
            "credit", "Grant credit", MONEY, _grant_credit, CreditForm,
            explains="The credit pays invoices in its currency, the oldest credit first.",
        ),
        TenantAct(
            "sign-in-as", "Sign in as", services.CONTENT_ROLES, _sign_in_as, SignInForm,
            explains="You read what the tenant's owner reads. The tenant's audit log shows each page that you open.",
        ),
        TenantAct(
            "suspend", "Suspend", OPERATORS, _suspend, dangerous=True,
            fits=lambda tenant: tenant.suspended_at is None,
            explains="Its keys, sessions, jobs and webhooks stop at once. Nothing is lost.",
        ),
        TenantAct(
            "resume", "End the suspension", OPERATORS, _resume, fits=lambda tenant: tenant.suspended_at is not None,
            explains="Its keys and jobs work again, and deadlines move by the length of the suspension.",
        ),
        TenantAct(
            "erase", "Erase", OPERATORS, _erase, EraseForm, dangerous=True,
            explains="Everything of the tenant is erased: recordings, indexes, questions, usage, keys and members.",
        ),
    )
}  # fmt: skip
"""The acts on the page of a tenant, by the name in their address."""
