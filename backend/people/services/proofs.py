"""Proofs that a person reads the mail of an account's address, and what ends with the first of them.

An invitation's link that was not mailed, and the word of a tenant's identity provider, prove nothing: whoever controls
the tenant has both. Such an account reaches that tenant alone (Person.vouched_by). A mailed link for a new password, or
a mailed code, proves the address. Whoever made the account before that may be somebody else, so the earlier password
and second factors end.
"""

from __future__ import annotations

from uuid import UUID

from allauth.mfa.models import Authenticator
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest

from backend.people.models import Person
from backend.tenancy.refusals import Refused


def require_proof(person: Person, tenant_id: UUID) -> None:
    """Check that an account may be attached to a tenant. Raises Refused `address_unproven`."""
    if person.vouched_by not in {None, tenant_id}:
        detail = (
            "Nothing has proven that you read the mail of this address. Ask for a new password at "
            "/accounts/password/reset/: the mail proves it. Then accept again."
        )
        raise Refused("address_unproven", detail, status=403)


def proven_by_code(request: HttpRequest, person: Person) -> None:
    """Note that somebody signed in with a mailed code. The earlier password of an unproven account ends."""
    if person.vouched_by is None:
        return
    person.set_unusable_password()
    _note_proof(person)
    # Every other session of the account ends, because its hash is another one now.
    update_session_auth_hash(request, person)


def proven_by_reset(person: Person) -> None:
    """Note that somebody has set a new password through a mailed link, which ends all sessions of the account."""
    if person.vouched_by is not None:
        _note_proof(person)


def _note_proof(person: Person) -> None:
    Authenticator.objects.filter(user_id=person.id).delete()
    person.vouched_by = None
    person.save(update_fields=["password", "vouched_by"])
