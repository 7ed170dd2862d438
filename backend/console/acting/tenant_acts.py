"""What staff may do to a tenant, on its page or in the list, and the forms of these acts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.urls import reverse
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminEmailInputWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from backend.accounts import suspension
from backend.api.form_fields import LineField
from backend.api.public_ids import encode
from backend.audit.services import record
from backend.billing.currencies import CURRENCIES
from backend.billing.models import Plan
from backend.billing.rates import plain
from backend.billing.services.credit.credit_grants import grant_credit
from backend.billing.services.plans import subscribe
from backend.console.access.viewing import MONEY, signed_in_as
from backend.console.acting.act_forms import ActForm
from backend.console.acting.acts import Act, By, Done, named, record_in_tenant
from backend.console.money import tenant_money_acts
from backend.console.queries import tenants
from backend.console.queries.role import CONSOLE
from backend.erasure.services.tenants import ask_for_erasure
from backend.people.models import Membership
from backend.people.models import Role as MemberRole
from backend.people.services import members
from backend.people.services.invitations import invite
from backend.staff import services
from backend.tenancy.context import tenant_scope
from backend.tenancy.creation import create_tenant
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused


class CreateForm(ActForm):
    """A new tenant with the address of its first owner."""

    name = LineField(max_length=200, widget=UnfoldAdminTextInputWidget())
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


class ThrottleForm(ActForm):
    """How many requests a tenant is answered each minute, and how many of its jobs run at once."""

    requests_per_minute = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1_000_000,
        widget=UnfoldAdminIntegerFieldWidget(),
        help_text="Of all keys together, and of each member. Empty for the limit of the service.",
    )
    jobs_at_once = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1_000,
        widget=UnfoldAdminIntegerFieldWidget(),
        help_text="Of each class of jobs. Empty for the caps of the class and the plan.",
    )

    def __init__(self, tenant: Tenant | None, data: Mapping[str, Any] | None) -> None:
        super().__init__(tenant, data)
        if tenant is None:
            return
        self.fields["requests_per_minute"].initial = tenant.requests_per_minute
        # Whoever throttles a tenant slows its jobs too, unless the field is emptied.
        self.fields["jobs_at_once"].initial = tenant.jobs_at_once or (None if tenant.requests_per_minute else 1)


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


class SessionsForm(ActForm):
    """The member whose sessions end, here or everywhere."""

    member = forms.ChoiceField(widget=UnfoldAdminSelectWidget())
    everywhere = forms.BooleanField(
        required=False,
        widget=UnfoldBooleanWidget(),
        help_text="Also in the person's other tenants, and on the pages of the account. Their audit logs show it too.",
    )

    def __init__(self, tenant: Tenant | None, data: Mapping[str, Any] | None) -> None:
        super().__init__(tenant, data)
        people = tenants.members(tenant.id) if tenant else []
        choices = [(str(line.id), f"{line.name} ({line.role})") for line in people]
        self.fields["member"] = forms.ChoiceField(choices=choices, widget=UnfoldAdminSelectWidget(choices=choices))
        self.order_fields(["member", "everywhere", "reason"])


def _plan_field(initial: str = "") -> forms.ChoiceField:
    choices = [(plan.code, plan.name) for plan in Plan.objects.using(CONSOLE).order_by("name")]
    return forms.ChoiceField(choices=choices, initial=initial, widget=UnfoldAdminSelectWidget(choices=choices))


def _create(_: None, values: Mapping[str, Any], by: By) -> Done:
    invited: list[str] = []

    def prepare(tenant: Tenant) -> None:
        record_in_tenant("tenant.created", tenant, by, {"plan": values["plan"]})
        if values["owner"]:
            invited.append(_invite_owner(values["owner"], by))

    tenant = create_tenant(name=values["name"], slug=values["slug"], plan=values["plan"], prepare=prepare)
    return Done(" ".join([f"{tenant.name} was created.", *invited]))


def _invite_owner(address: str, by: By) -> str:
    """Invite the first owner of the entered tenant, and return how in words."""
    invitation, link = invite(
        email=address,
        role=MemberRole.OWNER,
        collection_ids=None,
        by_person=None,
        by_name=by.actor.name,
        by_owner=True,
    )
    return f"The invitation was mailed to {address}." if invitation.mailed else f"Invitation: {link}"


def _suspend(tenant: Tenant, values: Mapping[str, Any], by: By) -> Done:
    if not suspension.suspend(actor=by.actor, reason=by.reason):
        raise Refused("nothing_to_do", "The tenant is suspended already.")
    return Done(f"{tenant.name} is suspended.")


def _resume(tenant: Tenant, values: Mapping[str, Any], by: By) -> Done:
    if not suspension.resume(actor=by.actor, reason=by.reason):
        raise Refused("nothing_to_do", "The tenant is not suspended.")
    return Done(f"The suspension of {tenant.name} ended.")


def _throttle(tenant: Tenant, values: Mapping[str, Any], by: By) -> Done:
    to = suspension.Throttle(values["requests_per_minute"], values["jobs_at_once"])
    before = suspension.throttle(to)
    record_in_tenant("tenant.throttled", tenant, by, {"from": asdict(before), "to": asdict(to)})
    if to == suspension.Throttle():
        return Done(f"{tenant.name} is not throttled.")
    requests = to.requests_per_minute or "the usual number of"
    jobs = to.jobs_at_once or "the usual number of"
    return Done(f"{tenant.name} is answered {requests} requests a minute and runs {jobs} jobs of a class at once.")


def _erase(tenant: Tenant, values: Mapping[str, Any], by: By) -> Done:
    if values["slug"] != tenant.slug:
        raise Refused("slug_mismatch", "This is not the slug of the tenant.")
    with tenant_scope(tenant.id):
        record_in_tenant("tenant.erasure_ordered", tenant, by, {})
    ask_for_erasure(tenant.id, slug=values["slug"], actor=by.actor)
    return Done(f"{tenant.name} is suspended for good, and is erased in a minute.")


def _change_plan(tenant: Tenant, values: Mapping[str, Any], by: By) -> Done:
    before = tenant.plan
    row = subscribe(plan=values["plan"], author=by.actor.name, reason=by.reason)
    changes = {"from": before, "to": values["plan"], "version": row.plan_version.version}
    record_in_tenant("tenant.plan_changed", tenant, by, changes)
    return Done(f"{tenant.name} has the plan {values['plan']} from now on.")


def _grant_credit(tenant: Tenant, values: Mapping[str, Any], by: By) -> Done:
    last = values["expires_on"]
    grant = grant_credit(
        amount=values["amount"],
        currency=values["currency"],
        reason=by.reason,
        author=by.actor.name,
        expires_at=None if last is None else datetime.combine(last, time(), UTC),
    )
    details = {"amount": plain(grant.amount), "currency": grant.currency}
    record_in_tenant("tenant.credit_granted", tenant, by, details)
    return Done(f"{plain(grant.amount)} {grant.currency} were granted to {tenant.name}.")


def _end_sessions(tenant: Tenant, values: Mapping[str, Any], by: By) -> Done:
    """End a member's sessions in this tenant; or all sessions of the person, which enters each tenant by itself."""
    member_id = UUID(values["member"])
    if values["everywhere"]:
        ended = services.end_sessions(email=tenants.email_of(tenant.id, member_id), reason=by.reason, actor=by.actor)
        if ended is None:
            raise Refused("not_found", "This member has left.")
        return Done(f"All sessions of the person have ended; {ended} audit logs show it.")
    with tenant_scope(tenant.id):
        try:
            member = members.end_sessions(member_id, by_owner=True)
        except Membership.DoesNotExist:
            raise Refused("not_found", "This member has left.") from None
        object_id = encode("mem", member.id)
        record("member.sessions_ended", actor=by.actor, object_id=object_id, reason=by.reason)
    return Done(f"The sessions of the member in {tenant.name} have ended.")


def _sign_in_as(tenant: Tenant, values: Mapping[str, Any], by: By) -> Done:
    if by.actor.id is None:
        raise Refused("not_staff", "Sign in again.")
    access = services.sign_in_as(
        person_id=by.actor.id,
        tenant_id=tenant.id,
        reason=by.reason,
        span=timedelta(minutes=values["minutes"]),
        origin=by.actor,
    )
    url = reverse("signed_in_as_home", args=[tenant.id])
    return Done(f"Your time as {tenant.name} has begun.", url, signed_in_as(access, tenant))


CREATE = Act("create", "Create a tenant", _create, form=CreateForm, records=True)
ACTS = named(
    Act(
        "plan", "Change the plan", _change_plan, MONEY, PlanForm, records=True,
        explains="The tenant is billed by the present version of the plan from now on.",
    ),
    Act(
        "credit", "Grant credit", _grant_credit, MONEY, CreditForm, records=True, fresh=True,
        explains="The credit pays invoices in its currency, the oldest credit first.",
    ),
    *tenant_money_acts.ACTS,
    Act(
        "sign-in-as", "Sign in as", _sign_in_as, services.CONTENT_ROLES, SignInForm, records=True, fresh=True,
        explains="You read what the tenant's owner reads. The tenant's audit log shows each page that you open.",
    ),
    Act(
        "end-sessions", "End sessions", _end_sessions, form=SessionsForm, records=True, enters=True,
        explains="The member's browsers are signed out and open streams end. Membership, role and keys stay.",
    ),
    Act(
        "throttle", "Throttle", _throttle, form=ThrottleForm, records=True,
        explains="Requests above the limit are answered with 429 from the next request on. Jobs above the limit wait; "
        "those that run go on. Webhooks and deletions are not slowed.",
    ),
    Act(
        "suspend", "Suspend", _suspend, dangerous=True, records=True, fits=lambda tenant: tenant.suspended_at is None,
        explains="Its keys, sessions, jobs and webhooks stop at once. Nothing is lost.",
    ),
    Act(
        "resume", "End the suspension", _resume, records=True, fits=lambda tenant: tenant.suspended_at is not None,
        explains="Its keys and jobs work again, and deadlines move by the length of the suspension.",
    ),
    Act(
        "erase", "Erase", _erase, form=EraseForm, dangerous=True, records=True, enters=True, fresh=True,
        explains="Everything of the tenant is erased: recordings, indexes, questions, usage, keys and members.",
    ),
)  # fmt: skip
"""The acts on a tenant, by the name in their address. Those without a form of their own are acts of the list too."""
