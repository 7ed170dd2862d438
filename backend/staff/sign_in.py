"""Signing in to the console: a password, counted attempts, then a second factor; idle and absolute limits."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils import timezone

from backend.people.models import Person, written_email
from backend.staff.models import Member, StaffEvent
from backend.tenancy.networks import client_address

IDLE = timedelta(minutes=30)
"""Time without a request after which a session ends."""
ABSOLUTE = timedelta(hours=12)
"""Time after which a session ends, however busy."""
FRESH = timedelta(minutes=10)
"""Time after a second factor for which factors may be added and removed."""
WINDOW = timedelta(minutes=15)
"""Time for which failed attempts count."""
ATTEMPTS_PER_ACCOUNT, ATTEMPTS_PER_ADDRESS = 5, 20
"""Failed attempts within WINDOW after which the account, or the address, is locked.

Attempts at an account are counted apart for each network address from which it has signed in lately, so that nobody
locks a person out who knows no more than the account's e-mail address.
"""
KNOWN = timedelta(days=30)
"""Time in which a network address is known after a sign-in."""

ATTEMPTED, SIGNED_IN = "staff.sign_in_attempted", "staff.signed_in"
PASSWORD_ACCEPTED, LOCKED_OUT, CONFIRMED = "staff.password_accepted", "staff.locked_out", "staff.factor_confirmed"
FACTOR_ENROLLED, FACTOR_REMOVED = "staff.factor_enrolled", "staff.factor_removed"
RECOVERY_CODES_MADE = "staff.recovery_codes_made"

BEGAN, VERIFIED = "staff_began_at", "staff_verified_at"
"""Keys of the session: when the password was accepted, and when the second factor was."""


class StaffBackend(ModelBackend):
    """Accepts the password of staff, and of nobody else, as long as the account and the address are not locked."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> Person | None:
        """Return the person whose password this is. Raises PermissionDenied for a locked account or address.

        The account need not exist to be locked, so a refusal reveals nothing about it.
        """
        if request is None or not username or password is None:
            return None
        email = written_email(username)
        if not attempt(request, email):
            raise PermissionDenied("locked")
        person = super().authenticate(request, username=email, password=password)
        if not isinstance(person, Person) or not Member.objects.filter(person_id=person.id).exists():
            return None
        note(request, PASSWORD_ACCEPTED, email)
        return person

    def user_can_authenticate(self, user: Any) -> bool:
        return bool(user.is_active and user.is_staff)


def attempt(request: HttpRequest, email: str) -> bool:
    """Count an attempt, of a password or a code, before it is judged; False if the account or the address is locked.

    Attempts at once are all counted first, so none slips through between a count and its record.
    """
    note(request, ATTEMPTED, email)
    since = timezone.now() - WINDOW
    recent = StaffEvent.objects.filter(action=ATTEMPTED, occurred_at__gt=since)
    address, known = client_address(request), _known_addresses(email)
    at_account = recent.filter(email=email[:254], occurred_at__gt=_last_success(email) or since)
    counted = at_account.filter(address=address) if address in known else at_account.exclude(address__in=known)
    by_account = counted.count()
    by_address = recent.filter(address=address).count() if address else 0
    here = StaffEvent.objects.filter(occurred_at__gt=since, address=address or None)
    # Attempts of colleagues that passed do not count against their address: two of a sign-in, one of a confirmation.
    passed = 2 * here.filter(action=SIGNED_IN).count() + here.filter(action=CONFIRMED).count()
    if by_account <= ATTEMPTS_PER_ACCOUNT and by_address - passed <= ATTEMPTS_PER_ADDRESS:
        return True
    note(request, LOCKED_OUT, email)
    return False


def _known_addresses(email: str) -> set[str]:
    """Return the network addresses from which an account has signed in lately."""
    passed = StaffEvent.objects.filter(
        email=email[:254], action__in=(SIGNED_IN, CONFIRMED), occurred_at__gt=timezone.now() - KNOWN
    )
    return {address for address in passed.values_list("address", flat=True) if address}


def _last_success(email: str) -> datetime | None:
    passed = StaffEvent.objects.filter(email=email[:254], action__in=(SIGNED_IN, CONFIRMED))
    events = passed.order_by("-occurred_at")
    return events.values_list("occurred_at", flat=True).first()


def note(request: HttpRequest, action: str, email: str, **details: Any) -> None:
    """Append an event to the log of the staff."""
    StaffEvent.objects.create(
        action=action,
        email=email[:254],
        address=client_address(request) or None,
        request_id=getattr(request, "request_id", ""),
        details=details,
    )


def begin(request: HttpRequest) -> None:
    """Note in a session that the password was accepted now."""
    request.session[BEGAN] = timezone.now().timestamp()


def complete(request: HttpRequest, factor: str) -> None:
    """Note in a session that a second factor was verified, under a new session key. factor: its kind."""
    action = CONFIRMED if has_second_factor(request) else SIGNED_IN
    request.session.cycle_key()
    request.session[VERIFIED] = timezone.now().timestamp()
    note(request, action, str(getattr(request.user, "email", "")), factor=factor)


def has_second_factor(request: HttpRequest) -> bool:
    """Whether the second factor was verified in this session."""
    return VERIFIED in request.session


def is_fresh(request: HttpRequest) -> bool:
    """Whether a second factor was verified in this session within the last minutes."""
    verified = request.session.get(VERIFIED)
    return isinstance(verified, float) and timezone.now().timestamp() - verified <= FRESH.total_seconds()


def is_too_old(request: HttpRequest) -> bool:
    """Whether the session has reached its absolute limit, or the sessions of its person had to begin again since."""
    began, since = request.session.get(BEGAN), getattr(request.user, "sessions_since", None)
    if not isinstance(began, float) or timezone.now().timestamp() - began > ABSOLUTE.total_seconds():
        return True
    return since is not None and began < since.timestamp()
