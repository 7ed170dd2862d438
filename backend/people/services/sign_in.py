"""How the members of a tenant sign in: settings, and admission by the tenant's OpenID Connect provider.

A domain is no membership: an address enters by an invitation, by a membership it has, or by a group that the tenant has
mapped to a role. Groups are read again at every sign-in.

A provider is whatever its tenant's owner says it is, so its word reaches no account but those that this tenant made.
Whoever has an account already is offered the membership, and accepts it in a session of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.db import IntegrityError, router, transaction

from backend.api.public_ids import encode
from backend.audit.services import Actor, record
from backend.people import queries, roles
from backend.people.models import Membership, Person, Role, SignInSettings, written_email
from backend.people.services import departures, members
from backend.people.services.invitations import accept, offer
from backend.tenancy.context import current_tenant_id, tenant_scope
from backend.tenancy.refusals import Refused
from backend.tenancy.secrets import seal
from backend.tenancy.shown_text import in_one_line

# The mightiest first: of several mapped groups the first role here counts. Ownership is never mapped.
MAPPED_ROLES = (Role.ADMIN, Role.DEVELOPER, Role.ANALYST, Role.VIEWER, Role.BILLING)


def save_settings(values: Mapping[str, Any]) -> SignInSettings:
    """Store the sign-in settings of the current tenant. values: fields by name; oidc_client_secret as text.

    Without a secret among the values the stored secret stays, unless the issuer changes: a new issuer must not be sent
    the secret of the earlier one. Under another issuer equal subjects are other people, so the links to the earlier
    issuer end.
    """
    with transaction.atomic():
        row, _ = SignInSettings.objects.select_for_update().get_or_create(tenant_id=current_tenant_id())
        issuer = row.oidc_issuer
        for name, value in values.items():
            setattr(row, name, seal(value.encode()) if name == "oidc_client_secret" else value)
        if row.oidc_issuer != issuer and "oidc_client_secret" not in values:
            row.oidc_client_secret = b""
        row.save()
        if row.oidc_issuer != issuer:
            SocialAccount.objects.filter(provider=provider_of(current_tenant_id())).delete()
    saved: SignInSettings = row
    return saved


def provider_of(tenant_id: UUID) -> str:
    """Return the name of a tenant's provider in links and stored accounts."""
    return encode("tnt", tenant_id)


def admit(settings: SignInSettings, claims: Mapping[str, Any], *, origin: Actor) -> Person:
    """Return the person that a provider's claims name, as a member of the provider's tenant.

    origin: whoever comes from the provider, whom the audit log names when a membership begins, changes or ends.

    Raises Refused `address_missing`, `address_unverified`, `domain_not_allowed`, `not_invited`, `staff_cannot_join`,
    and `acceptance_required` for an account that this tenant has not made: its holder finds an invitation there.
    """
    address = written_email(str(claims.get("email") or ""))
    if "@" not in address:
        raise Refused("address_missing", "The provider names no e-mail address.", status=403)
    if claims.get("email_verified") is not True:
        raise Refused("address_unverified", "The provider has not verified your e-mail address.", status=403)
    if settings.oidc_domains and address.rpartition("@")[2] not in settings.oidc_domains:
        raise Refused("domain_not_allowed", "Addresses of this domain cannot sign in here.", status=403)
    role = role_of_groups(settings, claims)
    person = Person.objects.filter(email=address).first()
    if person is not None and (person.is_staff or not person.is_active):
        raise Refused("not_invited", "You have no invitation.", status=403)
    invitation = queries.invitation_for(settings.tenant_id, address)
    with tenant_scope(settings.tenant_id):
        membership = None if person is None else queries.members().filter(person_id=person.id).first()
        if membership is not None:
            _follow_groups(membership, role, _named(origin, person))
            membership = queries.members().filter(id=membership.id).first()
    if membership is None and invitation is None and role is None:
        raise Refused("not_invited", "You have no invitation.", status=403)
    if membership is None and person is not None and person.vouched_by != settings.tenant_id:
        if invitation is None:
            offer(settings, address, role)
        detail = (
            f"This address has an account here. To join {settings.tenant.name}, sign in to the account at "
            "/accounts/login/ with its own password, passkey or mailed code, and accept the invitation there."
        )
        raise Refused("acceptance_required", detail, status=403)
    if person is None:
        try:
            with transaction.atomic(using=router.db_for_write(Person)):
                name = in_one_line(str(claims.get("name") or ""))[:200]
                person = Person.objects.create_user(address, None, name=name, vouched_by=settings.tenant_id)
                # Mailed codes go there, which alone prove the address (Person.vouched_by).
                EmailAddress.objects.create(user=person, email=address, verified=True, primary=True)
                departures.expect(person.id)
        except IntegrityError:
            # The address is that of staff, whom this process cannot see.
            raise Refused("not_invited", "You have no invitation.", status=403) from None
    if membership is None and invitation is not None:
        accept(invitation, person, origin=_named(origin, person), in_own_session=False)
    elif membership is None and role is not None:
        with tenant_scope(settings.tenant_id):
            joined = members.join(person, role=role, from_groups=True, accepted=False)
            _note("member.joined", joined, _named(origin, person), role=role)
    return person


def role_of_groups(settings: SignInSettings, claims: Mapping[str, Any]) -> Role | None:
    """Return the mightiest role that the groups of the claims map to. A claim is one group or a list of them."""
    claimed = claims.get(settings.oidc_groups_claim)
    groups = claimed if isinstance(claimed, list) else [claimed]
    named = {settings.oidc_group_roles.get(group) for group in groups if isinstance(group, str)}
    return next((role for role in MAPPED_ROLES if role in named), None)


def _named(origin: Actor, person: Person | None) -> Actor:
    return origin if person is None else replace(origin, id=person.id, name=person.email)


def _note(action: str, membership: Membership, by: Actor, **details: Any) -> None:
    record(action, actor=by, object_id=encode("mem", membership.id), details={**details, "from_groups": True})


def _follow_groups(membership: Membership, role: Role | None, by: Actor) -> None:
    """Give a membership that came by groups the role of today's groups; without a mapped group it ends.

    A limit to collections stays. Groups cannot give a limited member a role that has no limits: an owner decides that.
    """
    if not membership.from_groups:
        return
    if role is None:
        removed = members.remove(membership.id, by_owner=True)
        _note("member.removed", membership, by, **removed.details)
    elif membership.collection_ids is not None and role not in roles.LIMITABLE:
        _note("member.role_kept", membership, by, role=membership.role, refused=role, reason="role_not_limitable")
    elif membership.role != role:
        members.change(membership.id, role=role, collection_ids=None, limits_given=False, by_owner=True, by_groups=True)
        _note("member.changed", membership, by, before=membership.role, role=role)
