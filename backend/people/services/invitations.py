"""Writes to invitations: one open offer per address, accepted once, by the holder of that address."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.utils import timezone

from backend.api.public_ids import encode
from backend.audit.services import Actor, record
from backend.people import queries
from backend.people.models import Invitation, Membership, Person, written_email
from backend.people.services.members import checked_limits, join, require_rank, require_scopes
from backend.tenancy.authentication import Principal
from backend.tenancy.context import current_tenant_id, tenant_scope
from backend.tenancy.link_tokens import digest_of, link_to
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused

LIFETIME = timedelta(days=7)
_MAIL = """{inviter} invites you to {tenant} on AVA Cloud, with the role {role}.

Accept the invitation until {until} (UTC):
{link}

If you do not know what this is about, ignore this mail.
"""


def link_of(token: str) -> str:
    """Return the address of an invitation's page."""
    return link_to(f"/accounts/invitations/{token}/")


def invite(
    *,
    email: str,
    role: str,
    collection_ids: Sequence[UUID] | None,
    by_person: UUID | None,
    by_name: str,
    by_owner: bool,
    caller: Principal | None = None,
) -> tuple[Invitation, str]:
    """Offer a membership to an address; return the invitation and its link. Earlier offers to the address end.

    caller: who invites; None for an operator. The offer of an expiring key ends with the key at the latest.

    With a mail server the link goes to the address alone, after the transaction. Raises Refused `owners_only`,
    `insufficient_scope`, `already_member`, `role_not_limitable` or `not_found`.
    """
    require_rank(role, by_owner=by_owner)
    require_scopes(caller, role)
    limits = checked_limits(role, collection_ids)
    address = written_email(email)
    person = Person.objects.filter(email=address).first()
    if person is not None and queries.members().filter(person_id=person.id).exists():
        raise Refused("already_member", "The holder of this address is a member already.")
    token = secrets.token_urlsafe(32)
    expires_at = timezone.now() + LIFETIME
    if caller is not None and caller.expires_at is not None:
        expires_at = min(expires_at, caller.expires_at)
    with transaction.atomic():
        # Invitations of one tenant are made one after the other, so that an address has one open offer.
        Tenant.objects.select_for_update(no_key=True).get(id=current_tenant_id())
        revoke_open(address)
        invitation: Invitation = Invitation.objects.create(
            tenant_id=current_tenant_id(),
            email=address,
            role=role,
            collection_ids=limits,
            digest=digest_of(token),
            expires_at=expires_at,
            created_by=by_person,
            created_by_name=by_name,
            mailed=bool(settings.EMAIL_HOST),
        )
    if invitation.mailed:
        mail = _mail(invitation, token)
        transaction.on_commit(lambda: mail.send(fail_silently=False), robust=True)
    return invitation, link_of(token)


def _mail(invitation: Invitation, token: str) -> EmailMessage:
    tenant = Tenant.objects.get(id=current_tenant_id())
    body = _MAIL.format(
        inviter=invitation.created_by_name or "Somebody",
        tenant=tenant.name,
        role=invitation.role,
        until=f"{invitation.expires_at:%Y-%m-%d %H:%M}",
        link=link_of(token),
    )
    # A name with a line break must not become a header.
    return EmailMessage(subject=" ".join(f"Invitation to {tenant.name}".split()), body=body, to=[invitation.email])


def revoke_open(address: str) -> None:
    queries.invitations().filter(email=address, accepted_at=None, revoked_at=None).update(revoked_at=timezone.now())


def revoke(invitation_id: UUID) -> bool:
    """End an invitation. True also if it had ended before; False if the tenant has no such invitation."""
    mine = queries.invitations().filter(id=invitation_id)
    mine.filter(accepted_at=None, revoked_at=None).update(revoked_at=timezone.now())
    return mine.exists()


def revoke_again(invitation_id: UUID) -> bool:
    """Revoke an invitation that a restore has opened again. Returns whether it was open."""
    opened = queries.invitations().filter(id=invitation_id, accepted_at=None, revoked_at=None)
    return bool(opened.update(revoked_at=timezone.now()))


def accept(invitation: Invitation, person: Person, *, origin: Actor) -> Membership:
    """Make the invited person a member; an invitation is accepted once.

    origin: the person with the address of the request.

    Raises Refused `wrong_account` if the person has another address, `invitation_ended` if it was accepted, revoked or
    has expired meanwhile, `staff_cannot_join`.
    """
    if person.email != invitation.email:
        raise Refused("wrong_account", "This invitation is for another address.", status=403)
    with tenant_scope(invitation.tenant_id):
        now = timezone.now()
        taken = (
            queries.invitations()
            .filter(id=invitation.id, accepted_at=None, revoked_at=None, expires_at__gt=now)
            .update(accepted_at=now, accepted_by=person.id)
        )
        if taken == 0:
            raise Refused("invitation_ended", "This invitation has been used, has been revoked or has expired.")
        membership = join(
            person,
            role=invitation.role,
            collection_ids=invitation.collection_ids,
            created_by=invitation.created_by,
        )
        details = {"member_id": encode("mem", membership.id), "role": membership.role}
        record("invitation.accepted", actor=origin, object_id=encode("inv", invitation.id), details=details)
        return membership
