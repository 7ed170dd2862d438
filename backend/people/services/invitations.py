"""Writes to invitations: one open offer per address, accepted once, by the holder of that address.

The sender of webhooks mails the links, so no request waits for the mail server. An installation mails strangers in its
own name here, so the open invitations and the mails of a tenant have maximum numbers.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from uuid6 import uuid7

from backend.api.public_ids import encode
from backend.audit.services import Actor, record
from backend.jobs.models import JobKind
from backend.jobs.services import enqueue
from backend.people import queries
from backend.people.models import Invitation, Membership, Person, SignInSettings, written_email
from backend.people.services.members import checked_limits, join, require_rank, require_scopes
from backend.people.services.proofs import require_proof
from backend.tenancy.authentication import Principal
from backend.tenancy.context import current_tenant_id, tenant_scope
from backend.tenancy.link_tokens import digest_of, link_to
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused
from backend.tenancy.secrets import tokens_of

logger = logging.getLogger(__name__)

LIFETIME = timedelta(days=7)
MAIL_ATTEMPTS = 20
MAILS_TO_ADDRESS = 5
"""Maximum number of mails of one tenant to one address in MAILS_WITHIN."""
MAILS_WITHIN = timedelta(days=1)
_PURPOSE = "invitation"
_MAIL = """{inviter} invites you to {tenant} on AVA Cloud, with the role {role}.

Accept the invitation until {until} (UTC):
{link}

Accepting lets {tenant} see your name, your address and when you sign in. Nobody joins without accepting: if you do not
know what this is about, ignore this mail.
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
    `insufficient_scope`, `already_member`, `too_many_invitations`, `role_not_limitable` or `not_found`.
    """
    require_rank(role, by_owner=by_owner)
    require_scopes(caller, role)
    limits = checked_limits(role, collection_ids)
    address = written_email(email)
    person = Person.objects.filter(email=address).first()
    if person is not None and queries.members().filter(person_id=person.id).exists():
        raise Refused("already_member", "The holder of this address is a member already.")
    invitation_id = uuid7()
    token = next(tokens_of(_PURPOSE, invitation_id))
    expires_at = timezone.now() + LIFETIME
    if caller is not None and caller.expires_at is not None:
        expires_at = min(expires_at, caller.expires_at)
    with transaction.atomic():
        # Invitations of one tenant are made one after the other, so that an address has one open offer.
        Tenant.objects.select_for_update(no_key=True).get(id=current_tenant_id())
        revoke_open(address)
        _require_room(address, mailed=bool(settings.EMAIL_HOST))
        invitation: Invitation = Invitation.objects.create(
            id=invitation_id,
            tenant_id=current_tenant_id(),
            email=address,
            role=role,
            collection_ids=limits,
            digest=digest_of(token),
            expires_at=expires_at,
            created_by=by_person,
            created_by_key=caller and caller.api_key_id,
            created_by_name=by_name,
            mailed=bool(settings.EMAIL_HOST),
        )
        if invitation.mailed:
            enqueue(
                kind=JobKind.SEND_NOTICE,
                subject_id=invitation.id,
                dedupe_key=f"invitation:{invitation.id}",
                max_attempts=MAIL_ATTEMPTS,
            )
    return invitation, link_of(token)


def offer(sign_in: SignInSettings, address: str, role: str | None) -> None:
    """Offer a membership to the holder of an account whom a tenant's provider has named, if it maps to a role.

    Nothing is mailed: the holder finds the offer after signing in. Raises Refused `too_many_invitations`.
    """
    if role is None:
        return
    with tenant_scope(sign_in.tenant_id):
        Tenant.objects.select_for_update(no_key=True).get(id=sign_in.tenant_id)
        if queries.open_invitations().filter(email=address).exists():
            return
        revoke_open(address)
        _require_room(address, mailed=False)
        Invitation.objects.create(
            tenant_id=sign_in.tenant_id,
            email=address,
            role=role,
            digest=digest_of(secrets.token_urlsafe(32)),
            expires_at=timezone.now() + LIFETIME,
            created_by_name=f"the identity provider of {sign_in.tenant.name}",
            from_groups=True,
        )


def mail_of(invitation_id: UUID) -> EmailMessage | None:
    """Return the mail with the link of an invitation; None if the tenant has no such invitation that is open."""
    invitation = queries.open_invitations().filter(id=invitation_id, mailed=True).first()
    if invitation is None:
        return None
    digest = bytes(invitation.digest)
    token = next((token for token in tokens_of(_PURPOSE, invitation_id) if digest_of(token) == digest), None)
    if token is None:
        logger.warning("an invitation is not mailed: its key has been removed")
        return None
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


def _require_room(address: str, *, mailed: bool) -> None:
    """Check the maximum numbers for one more invitation. Raises Refused `too_many_invitations`.

    mailed: whether it is mailed. The tenant is locked, so two requests cannot pass a maximum together.
    """
    most = settings.OPEN_INVITATIONS_PER_TENANT
    if queries.open_invitations().count() >= most:
        detail = f"{most} invitations are open; revoke some, or wait until they are accepted or expire."
        raise Refused("too_many_invitations", detail, status=429)
    if not mailed:
        return
    sent = queries.invitations().filter(mailed=True, created_at__gt=timezone.now() - MAILS_WITHIN)
    if sent.count() >= settings.INVITATION_MAILS_PER_DAY:
        detail = f"{settings.INVITATION_MAILS_PER_DAY} invitations were mailed within 24 hours; invite again tomorrow."
        raise Refused("too_many_invitations", detail, status=429)
    if sent.filter(email=address).count() >= MAILS_TO_ADDRESS:
        detail = f"This address was invited {MAILS_TO_ADDRESS} times within 24 hours; invite it again tomorrow."
        raise Refused("too_many_invitations", detail, status=429)


def revoke_open(address: str) -> None:
    queries.invitations().filter(email=address, accepted_at=None, revoked_at=None).update(revoked_at=timezone.now())


def revoke_all(rows: QuerySet[Invitation]) -> None:
    """End open invitations."""
    rows.update(revoked_at=timezone.now())


def revoke(invitation_id: UUID) -> bool:
    """End an invitation. True also if it had ended before; False if the tenant has no such invitation."""
    mine = queries.invitations().filter(id=invitation_id)
    mine.filter(accepted_at=None, revoked_at=None).update(revoked_at=timezone.now())
    return mine.exists()


def revoke_again(invitation_id: UUID) -> bool:
    """Revoke an invitation that a restore has opened again. Returns whether it was open."""
    opened = queries.invitations().filter(id=invitation_id, accepted_at=None, revoked_at=None)
    return bool(opened.update(revoked_at=timezone.now()))


def decline(invitation: Invitation, *, origin: Actor) -> None:
    """End an invitation that the invited person does not want. origin: the person with the address of the request."""
    with tenant_scope(invitation.tenant_id):
        revoke(invitation.id)
        record("invitation.declined", actor=origin, object_id=encode("inv", invitation.id), details={})


def accept(invitation: Invitation, person: Person, *, origin: Actor, in_own_session: bool = True) -> Membership:
    """Make the invited person a member; an invitation is accepted once.

    origin: the person with the address of the request. in_own_session: whether the person accepts, and not the
    tenant's provider for a new account.

    Raises Refused `wrong_account` if the person has another address, `invitation_ended` if it was accepted, revoked or
    has expired meanwhile, `staff_cannot_join`, `address_unproven`.
    """
    require_proof(person, invitation.tenant_id)
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
            from_groups=invitation.from_groups,
            accepted=in_own_session,
        )
        details = {"member_id": encode("mem", membership.id), "role": membership.role}
        record("invitation.accepted", actor=origin, object_id=encode("inv", invitation.id), details=details)
        return membership
