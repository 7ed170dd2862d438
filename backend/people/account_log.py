"""What people do with their accounts, in the audit log of each tenant of theirs: sign-ins, passwords and factors.

Nothing is kept of an address that no member has.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from allauth.account import signals as account
from allauth.mfa import signals as mfa
from django.core.cache import cache
from django.forms import ValidationError
from django.http import HttpRequest

from backend.api.public_ids import decode, encode
from backend.audit.models import ActorKind
from backend.audit.services import Actor, record
from backend.people import queries, sessions
from backend.people.models import Person, written_email
from backend.people.services import proofs
from backend.tenancy.context import tenant_scope
from backend.tenancy.networks import client_address
from backend.tenancy.refusals import TenantMoving

logger = logging.getLogger(__name__)

SIGNED_IN, FAILED, LOCKED_OUT = "member.signed_in", "member.sign_in_failed", "member.locked_out"
PASSWORD_CHANGED = "member.password_changed"
FACTOR_ADDED, FACTOR_REMOVED, FACTOR_RENEWED = "member.factor_added", "member.factor_removed", "member.factor_renewed"

LOCK_OUT_SECONDS = 15 * 60
"""Time in which further refusals of a locked account are not recorded again, so that guesses do not fill the log."""
_LOCKED = "too_many_login_attempts"


def actor_of(request: HttpRequest, person: Person | None, *, name: str = "") -> Actor:
    """Return the person of a page as the audit log names them. name: the address that nobody here has, or not yet."""
    return Actor(
        ActorKind.PERSON,
        None if person is None else person.id,
        (name if person is None else person.email)[:254],
        client_address(request),
        getattr(request, "request_id", ""),
    )


def note(request: HttpRequest, person: Person, action: str, **details: Any) -> None:
    """Record what a person did in the log of each tenant that the session reaches; without a session, of each.

    A tenant whose membership the person has not accepted sees sign-ins by its own provider alone.
    """
    actor = actor_of(request, person)
    for tenant_id, membership_id in _memberships(request, person):
        _append(tenant_id, action, actor, object_id=encode("mem", membership_id), details=details)


def _memberships(request: HttpRequest, person: Person) -> list[tuple[UUID, UUID]]:
    """Return tenant and id of the memberships that the session of a request covers."""
    provider = sessions.provider(request)
    if not provider:
        rows = queries.memberships_of(person.id)
        return [(row.tenant_id, row.id) for row in rows if sessions.is_accepted(person, row)]
    # The membership may have begun in this request's transaction, which the role of memberships_of does not see.
    tenant_id = decode("tnt", provider)
    with tenant_scope(tenant_id):
        return [(tenant_id, row.id) for row in queries.members().filter(person_id=person.id)]


def _append(tenant_id: UUID, action: str, actor: Actor, *, object_id: str, details: Mapping[str, Any]) -> None:
    try:
        with tenant_scope(tenant_id):
            record(action, actor=actor, object_id=object_id, details=details)
    except TenantMoving:
        # The tenant takes no writes for some seconds, and the person may sign in to the others.
        logger.warning("%s was not recorded for tenant %s, which moves", action, tenant_id)


def signed_in(request: HttpRequest, person: Person) -> None:
    """Record a sign-in with the methods of the session."""
    methods = [str(one.get("type", one["method"])) for one in sessions.records(request)]
    note(request, person, SIGNED_IN, methods=methods)


def failed(request: HttpRequest, person: Person | None, *, factor: str) -> None:
    """Record that a password, a code or a passkey of a person was not accepted."""
    if person is not None:
        note(request, person, FAILED, factor=factor)


def locked_out(request: HttpRequest, person: Person | None, *, factor: str) -> None:
    """Record that no attempt of a person is judged for some minutes, after too many failed ones."""
    if person is not None and cache.add(f"locked-out:{person.id}", True, timeout=LOCK_OUT_SECONDS):
        note(request, person, LOCKED_OUT, factor=factor)


@contextmanager
def lock_outs(request: HttpRequest, person: Person | None, *, factor: str, refusals: bool = False) -> Iterator[None]:
    """Record the lock-out with which allauth ends this block. refusals: record every other refusal as failed."""
    try:
        yield
    except ValidationError as refused:
        if refused.code == _LOCKED:
            locked_out(request, person, factor=factor)
        elif refusals:
            failed(request, person, factor=factor)
        raise


def refused_by_provider(request: HttpRequest, tenant_id: UUID, *, address: str, reason: str) -> None:
    """Record that a tenant did not let in whom its provider named. reason: code of the refusal."""
    details = {"factor": "provider", "reason": reason}
    _append(tenant_id, FAILED, actor_of(request, None, name=address), object_id="", details=details)


def person_of(credentials: Mapping[str, Any]) -> Person | None:
    """Return the person whose address is tried, if there is one."""
    return Person.objects.filter(email=written_email(str(credentials.get("email") or ""))).first()


def connect() -> None:
    """Listen to allauth where its adapter has no hook."""
    account.password_changed.connect(_password_changed)
    account.password_set.connect(_password_changed)
    account.password_reset.connect(_password_reset)
    account.login_code_rejected.connect(_code_rejected)
    mfa.authenticator_added.connect(_factor_added)
    mfa.authenticator_removed.connect(_factor_removed)
    mfa.authenticator_reset.connect(_factor_renewed)
    mfa.authentication_failed.connect(_factor_rejected)


def _password_changed(request: HttpRequest, user: Person, **_: Any) -> None:
    note(request, user, PASSWORD_CHANGED, by_mail=False)


def _password_reset(request: HttpRequest, user: Person, **_: Any) -> None:
    # The log of a tenant gets no event of an account that its holder has just taken from it.
    proofs.proven_by_reset(user)
    note(request, user, PASSWORD_CHANGED, by_mail=True)


def _code_rejected(request: HttpRequest, user: Person, **_: Any) -> None:
    failed(request, user, factor="code")


def _factor_added(request: HttpRequest, user: Person, authenticator: Any, **_: Any) -> None:
    note(request, user, FACTOR_ADDED, factor=str(authenticator.type))


def _factor_removed(request: HttpRequest, user: Person, authenticator: Any, **_: Any) -> None:
    note(request, user, FACTOR_REMOVED, factor=str(authenticator.type))


def _factor_renewed(request: HttpRequest, user: Person, authenticator: Any, **_: Any) -> None:
    note(request, user, FACTOR_RENEWED, factor=str(authenticator.type))


def _factor_rejected(request: HttpRequest, user: Person, authenticator: Any, **_: Any) -> None:
    failed(request, user, factor=str(authenticator.type))
