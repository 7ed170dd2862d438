"""Passkeys of staff (WebAuthn, by fido2, as django-allauth uses it for customers): a second factor that needs a device.

A reply of a browser is bound to the console's origin and to a challenge that its session keeps for one use.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from fido2.server import Fido2Server
from fido2.webauthn import (
    AttestedCredentialData,
    AuthenticationResponse,
    PublicKeyCredentialRpEntity,
    PublicKeyCredentialUserEntity,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from backend.people.models import Person
from backend.staff.factors import ISSUER, may_enrol
from backend.staff.models import Passkey
from backend.tenancy.shown_text import in_one_line

MOST = 10
"""Passkeys of one person."""
_LONGEST_REPLY = 65_536
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError, IndexError, AssertionError, struct.error, OverflowError)
"""What fido2 raises for a reply that is wrong or no reply at all."""


def creation(person: Person) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the options of a new passkey for the browser, and what the session keeps until the browser replies.

    None if the console's address allows no passkeys.
    """
    if not are_possible():
        return None
    user = PublicKeyCredentialUserEntity(id=person.id.bytes, name=person.email, display_name=person.email)
    options, state = _server().register_begin(
        user,
        credentials=_credentials(person),
        # Found by its id after the password, so it need not be listed by the device.
        resident_key_requirement=ResidentKeyRequirement.DISCOURAGED,
        user_verification=UserVerificationRequirement.PREFERRED,
    )
    return dict(options), dict(state)


def enrol(
    person: Person, name: str, reply: str, state: dict[str, Any] | None, *, operators_code: str | None
) -> Passkey | None:
    """Keep a new passkey if the browser's reply proves it; None if it does not, or if there are too many.

    state: what the session kept. operators_code: as in factors.may_enrol().
    """
    try:
        data = _server().register_complete(state, _parsed(reply)).credential_data
    except _MALFORMED:
        return None
    if data is None:
        return None
    with transaction.atomic(using="staff"):
        known = Passkey.objects.filter(credential_id=data.credential_id).exists()
        if known or len(_credentials(person)) >= MOST or not may_enrol(person.id, operators_code=operators_code):
            return None
        made: Passkey = Passkey.objects.create(
            person_id=person.id,
            name=in_one_line(name)[:60] or "Passkey",
            credential_id=data.credential_id,
            credential=bytes(data),
        )
    return made


def request(person: Person) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the options of a sign-in for the browser, and what the session keeps; None without a passkey."""
    credentials = _credentials(person) if are_possible() else []
    if not credentials:
        return None
    options, state = _server().authenticate_begin(credentials, user_verification=UserVerificationRequirement.PREFERRED)
    return dict(options), dict(state)


def verify(person: Person, reply: str, state: dict[str, Any] | None) -> bool:
    """Whether the browser's reply is signed by a passkey of the person, for the challenge that the session kept.

    A counter that does not rise reveals a copy of the authenticator, and the reply is refused.
    """
    try:
        parsed = _parsed(reply)
        used = _server().authenticate_complete(state, _credentials(person), parsed)
        count = AuthenticationResponse.from_dict(parsed).response.authenticator_data.counter
    except _MALFORMED:
        return False
    mine = Passkey.objects.filter(person_id=person.id, credential_id=used.credential_id)
    rising = Q(sign_count__lt=count) if count else Q(sign_count=0)
    return bool(mine.filter(rising).update(sign_count=count, used_at=timezone.now()))


def _credentials(person: Person) -> Sequence[AttestedCredentialData]:
    rows = Passkey.objects.filter(person_id=person.id).values_list("credential", flat=True)
    return [AttestedCredentialData(bytes(row)) for row in rows]


def _parsed(reply: str) -> dict[str, Any]:
    parsed = json.loads(reply) if len(reply) <= _LONGEST_REPLY else None
    if not isinstance(parsed, dict):
        raise TypeError("a reply is an object")
    return parsed


def are_possible() -> bool:
    """Whether browsers make passkeys for the console's address: a host name, and TLS unless it is localhost."""
    url = _console()
    host = url.hostname or ""
    is_address = ":" in host or host.replace(".", "").isdigit()
    return host == "localhost" or (url.scheme == "https" and not is_address)


def _server() -> Fido2Server:
    url = _console()
    port = "" if url.port in (None, {"https": 443, "http": 80}.get(url.scheme)) else f":{url.port}"
    origin = f"{url.scheme}://{url.hostname}{port}"
    return Fido2Server(PublicKeyCredentialRpEntity(id=url.hostname, name=ISSUER), verify_origin=origin.__eq__)


def _console() -> SplitResult:
    return urlsplit(settings.CONSOLE_URL)
