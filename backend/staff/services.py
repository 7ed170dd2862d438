"""Staff and their access to content: appointed on the command line, opened with a reason and for a time."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from backend.api.public_ids import encode
from backend.audit.models import ActorKind
from backend.audit.services import OPERATOR, SHORTEST_REASON, Actor, record
from backend.people.models import Membership, Person, written_email
from backend.people.sessions import is_accepted
from backend.staff import factors
from backend.staff.models import ContentAccess, Member, Passkey, RecoveryCode, Role, SecondFactor, StaffEvent
from backend.tenancy.context import tenant_scope
from backend.tenancy.refusals import Refused, invalid

ENROLMENT = timedelta(hours=24)
"""Time in which a new code for the first second factor works."""
LONGEST_ACCESS = timedelta(hours=8)
CONTENT_ROLES = frozenset({Role.SUPPORT_CONTENT, Role.OPERATOR})


def appoint(*, email: str, role: Role, password: str | None = None) -> Member:
    """Make a person staff with this role, or change the role; on the command line only.

    password: a new password; None keeps the present one, and a new person without one cannot sign in.
    """
    with transaction.atomic(using="staff"):
        person, created = Person.objects.using("staff").get_or_create(
            email=written_email(email), defaults={"is_staff": True}
        )
        # Only a changed password is hashed again, which ends the sessions.
        if password is not None and not person.check_password(password):
            person.set_password(password)
        elif created:
            person.set_unusable_password()
        person.is_staff = person.is_active = True
        person.is_superuser = role == Role.OPERATOR
        person.save()
        member, _ = Member.objects.update_or_create(person=person, defaults={"role": role})
        StaffEvent.objects.create(action="staff.appointed", email=person.email, details={"role": role})
    return member


def new_enrolment_code(*, email: str, code: str = "") -> str | None:
    """Return a code with which staff set up their first second factor within ENROLMENT; on the command line only.

    A password alone sets up nothing, because whoever has stolen it would do so first. code: a code that the caller has
    chosen, of at least 16 characters. An earlier code ends. None for somebody who is no staff, or who has a factor.
    """
    with transaction.atomic(using="staff"):
        member = Member.objects.select_for_update().filter(person__email=written_email(email)).first()
        if member is None or factors.number(member.person_id):
            return None
        code = code or "-".join(secrets.token_hex(2) for _ in range(5))
        member.enrolment_digest = factors.digest_of_code(code)
        member.enrolment_until = timezone.now() + ENROLMENT
        member.save(update_fields=["enrolment_digest", "enrolment_until"])
        StaffEvent.objects.create(action="staff.enrolment_code", email=written_email(email))
    return code


def dismiss(*, email: str) -> bool:
    """Take a person's access to the console; the next request is refused. False if there is no such staff."""
    with transaction.atomic(using="staff"):
        member = Member.objects.select_related("person").filter(person__email=written_email(email)).first()
        if member is None:
            return False
        SecondFactor.objects.filter(person=member.person).delete()
        Passkey.objects.filter(person=member.person).delete()
        RecoveryCode.objects.filter(person=member.person).delete()
        ContentAccess.objects.filter(person=member.person).delete()
        Person.objects.using("staff").filter(id=member.person_id).update(is_active=False, is_superuser=False)
        member.delete()
        StaffEvent.objects.create(action="staff.dismissed", email=written_email(email))
    return True


def end_sessions(*, email: str, reason: str, actor: Actor = OPERATOR) -> int | None:
    """End all sessions of a customer's person or of staff, who may sign in again.

    actor: who does it, by default the operator on the command line. reason: shown in the audit log of each tenant that
    the person has accepted. Returns the number of these tenants, None if there is no such person.
    Raises Refused if the reason says nothing.
    """
    if len(reason.strip()) < SHORTEST_REASON:
        raise Refused("invalid_request", f"Give a reason of at least {SHORTEST_REASON} characters.", status=400)
    now = timezone.now()
    person = Person.objects.using("staff").filter(email=written_email(email)).first()
    if person is None:
        return None
    with transaction.atomic(using="staff"):
        Person.objects.using("staff").filter(id=person.id).update(sessions_since=now)
        details = {"reason": reason, "by": actor.name}
        StaffEvent.objects.create(action="sessions.ended", email=person.email, details=details)
    memberships = list(Membership.unscoped.using("dispatch").filter(person_id=person.id))
    for membership in memberships:
        with tenant_scope(membership.tenant_id):
            # A request of such a session is refused for the tenant, also where the person is read late.
            Membership.objects.filter(id=membership.id).update(sessions_since=now)
            # A tenant that the person has not accepted learns nothing about the account.
            if is_accepted(person, membership):
                object_id = encode("mem", membership.id)
                record("member.sessions_ended", actor=actor, object_id=object_id, reason=reason)
    return len(memberships)


def reset_factors(*, email: str) -> bool:
    """Remove the second factors of a person who lost them; the next sign-in asks for a new one. Sessions end."""
    with transaction.atomic(using="staff"):
        person = Person.objects.using("staff").filter(email=written_email(email)).first()
        if person is None:
            return False
        found = sum(kind.objects.filter(person_id=person.id).delete()[0] for kind in (SecondFactor, Passkey))
        RecoveryCode.objects.filter(person_id=person.id).delete()
        if found:
            Person.objects.using("staff").filter(id=person.id).update(sessions_since=timezone.now())
            StaffEvent.objects.create(action="staff.factor_reset", email=person.email, details={"factors": found})
    return bool(found)


def open_content(*, member: Member, tenant_id: UUID, reason: str, span: timedelta, origin: Actor) -> ContentAccess:
    """Let a person open the content of a tenant for a time; the tenant's audit log shows the reason.

    origin: the person with the address of the request. Raises Refused `content_closed` for a role without content, and
    refuses a reason that is too short or a time that is too long.
    """
    if member.role not in CONTENT_ROLES:
        raise Refused("content_closed", "Your role opens no content of customers.", status=403)
    if len(reason.strip()) < SHORTEST_REASON:
        detail = f"State a reason of at least {SHORTEST_REASON} characters."
        raise invalid(pointer="/reason", code="too_short", detail=detail)
    if not timedelta(0) < span <= LONGEST_ACCESS:
        raise invalid(pointer="/hours", code="out_of_range", detail="Content is opened for at most 8 hours.")
    expires_at = timezone.now() + span
    with tenant_scope(tenant_id):
        record(
            "tenant.content_opened",
            actor=origin,
            reason=reason.strip(),
            details={"until": expires_at.isoformat(), "role": member.role},
        )
        return ContentAccess.objects.create(
            person_id=member.person_id, tenant_id=tenant_id, reason=reason.strip()[:500], expires_at=expires_at
        )


def sign_in_as(*, person_id: UUID, tenant_id: UUID, reason: str, span: timedelta, origin: Actor) -> ContentAccess:
    """Let a person read what the owner of a tenant reads, for a time; the tenant's audit log shows the reason."""
    expires_at = timezone.now() + span
    with tenant_scope(tenant_id):
        record("tenant.signed_in_as", actor=origin, reason=reason, details={"until": expires_at.isoformat()})
        return ContentAccess.objects.create(
            person_id=person_id, tenant_id=tenant_id, reason=reason, expires_at=expires_at
        )


def access_to(member: Member, tenant_id: UUID) -> ContentAccess | None:
    """Return the access to a tenant's content that a person holds now, if any."""
    if member.role not in CONTENT_ROLES:
        return None
    open_now = ContentAccess.objects.filter(
        person_id=member.person_id, tenant_id=tenant_id, expires_at__gt=timezone.now()
    )
    return open_now.order_by("-expires_at").first()


def note_command(action: str, author: str, details: Mapping[str, Any], using: str) -> None:
    """Append what a command did, and that concerns no tenant, to the log of the staff."""
    StaffEvent.objects.using(using).create(action=action, email=author[:254], details=dict(details))


def actor(member: Member, *, address: str, request_id: str) -> Actor:
    """Return a person of the staff as the audit log names them."""
    return Actor(ActorKind.STAFF, member.person_id, member.person.email, address, request_id)
