"""Erases people whom no tenant has as a member any more. The API alone does it: workers may not write people.

A trigger queues a departure with each membership that ends (backend.tenancy.ddl.departures), whatever ended it: a
member who leaves or is removed, the erasure of a tenant, a replay after a restore. So the person is looked at after
that transaction, by another role, and by another process if this one ends now.
"""

from __future__ import annotations

import logging
from uuid import UUID

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db import IntegrityError, connections, router, transaction
from django.utils import timezone

from backend.api.public_ids import encode
from backend.audit.services import Actor, record
from backend.people import queries
from backend.people.models import Departure, Person
from backend.people.services import members
from backend.people.services.invitations import LIFETIME
from backend.people.sessions import is_accepted
from backend.tenancy.context import tenant_scope
from backend.tenancy.refusals import Refused

AT_ONCE = 100
logger = logging.getLogger(__name__)


def expect(person_id: UUID) -> None:
    """Erase a new account unless a tenant has taken the person in within the life of an invitation."""
    Departure.objects.create(person_id=person_id, due_at=timezone.now() + LIFETIME)


def delete_account(person: Person, *, origin: Actor) -> None:
    """End all memberships of a person, who is erased soon after. Each tenant's log keeps that the account ended.

    origin: the person with the address of the request. Raises Refused `last_owner`, which names the tenants that would
    have no owner, and `tenant_moving` (503); then nothing has changed.
    """
    kept, rows = [], queries.all_memberships_of(person.id)
    with transaction.atomic():
        for row in rows:
            try:
                with tenant_scope(row.tenant_id):
                    removed = members.remove(row.id, by_owner=True)
                    # A tenant that the person has not accepted learns that the membership ended, and not why.
                    known = {"account_deleted": True} if is_accepted(person, row) else {}
                    details = {**removed.details, **known}
                    record("member.left", actor=origin, object_id=encode("mem", row.id), details=details)
            except Refused as refused:
                if refused.code != "last_owner":
                    raise
                kept.append(row.tenant.name)
        if kept:
            names = ", ".join(kept)
            raise Refused("last_owner", f"You are the last owner of {names}: make somebody else owner, or erase it.")
    # The trigger has queued nothing if the person had no membership.
    Departure.objects.create(person_id=person.id, due_at=timezone.now())


def erase_departed() -> int:
    """Look at the departures that are due, in a transaction each. Returns the number of erased people."""
    erased, seen = 0, 0
    while seen < AT_ONCE:
        with transaction.atomic(using=router.db_for_write(Departure)):
            due = Departure.objects.select_for_update(skip_locked=True).filter(due_at__lte=timezone.now())
            departure = due.order_by("id").first()
            if departure is None:
                break
            erased += _erased(departure.tenant_id, departure.person_id)
            Departure.objects.filter(id=departure.id).delete()
            seen += 1
    return erased


def _erased(tenant_id: UUID | None, person_id: UUID | None) -> bool:
    """End what a departure names. Returns whether a person was erased."""
    if tenant_id is not None:
        identities = SocialAccount.objects.filter(provider=encode("tnt", tenant_id))
        if person_id is not None and not queries.is_member(person_id, tenant_id):
            identities.filter(user_id=person_id).delete()
        elif person_id is None and not queries.has_provider(tenant_id):
            identities.delete()
    return person_id is not None and not queries.is_member(person_id) and erase_person(person_id)


def erase_person(person_id: UUID) -> bool:
    """Delete a person with sessions, factors, addresses and identities. False for staff, whom this role does not see.

    False too if a row refers to the person that nothing here deletes, such as a membership that begins meanwhile.
    """
    if not Person.objects.filter(id=person_id).exists():
        return False
    alias = router.db_for_write(Person)
    try:
        with transaction.atomic(using=alias):
            keys = UserSession.objects.filter(user_id=person_id).values_list("session_key", flat=True)
            Session.objects.filter(session_key__in=list(keys)).delete()
            for owned in (UserSession, Authenticator, SocialAccount, EmailAddress):
                owned.objects.filter(user_id=person_id).delete()
            # Django would look for memberships first, which this role does not see; the database refuses by itself.
            with connections[alias].cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                cursor.execute("DELETE FROM people_person WHERE id = %s", [person_id])
                return bool(cursor.rowcount)
    except IntegrityError as error:
        logger.warning("the person %s is not erased: %s", person_id, type(error).__name__)
        return False
