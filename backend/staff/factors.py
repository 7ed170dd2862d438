"""The second factors of staff: who may enrol and remove them, and the codes of authenticator apps (TOTP, RFC 6238)."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from urllib.parse import quote, urlencode
from uuid import UUID

import qrcode
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from django.db import transaction
from django.utils import timezone
from qrcode.image.svg import SvgPathFillImage

from backend.staff.models import Member, Passkey, SecondFactor
from backend.tenancy.secrets import open_sealed, seal

STEP_SECONDS, DIGITS, SECRET_BYTES = 30, 6, 20
"""What every authenticator app assumes."""
ISSUER = "AVA Cloud console"


def new_secret() -> str:
    """Return a new secret in base32, as apps read it."""
    return base64.b32encode(secrets.token_bytes(SECRET_BYTES)).decode()


def uri(secret: str, email: str) -> str:
    """Return the otpauth:// URI of a secret, for a QR code."""
    query = urlencode({"secret": secret, "issuer": ISSUER}, quote_via=quote)
    return f"otpauth://totp/{quote(ISSUER)}:{quote(email)}?{query}"


def qr_code(uri: str) -> str:
    """Return the QR code of a URI as the data URI of a picture."""
    drawn = qrcode.make(uri, image_factory=SvgPathFillImage, border=2).to_string()
    return f"data:image/svg+xml;base64,{base64.b64encode(drawn).decode()}"


def code_at(secret: str, step: int) -> str:
    """Return the code of a time step (seconds since 1970 / 30)."""
    # SHA-1 is what the apps use; an HMAC does not depend on its collisions.
    totp = TOTP(base64.b32decode(secret), DIGITS, SHA1(), STEP_SECONDS, enforce_key_length=False)  # noqa: S303
    return totp.generate(step * STEP_SECONDS).decode()


def step_of(secret: str, code: str, *, now: float | None = None) -> int | None:
    """Return the time step whose code this is: the present one or a neighbour, because clocks differ; else None."""
    present = int((time.time() if now is None else now) // STEP_SECONDS)
    given = "".join(code.split())
    steps = (present, present - 1, present + 1)
    return next(
        (step for step in steps if secrets.compare_digest(code_at(secret, step).encode(), given.encode())), None
    )


def number(person_id: UUID) -> int:
    """Return how many second factors a person has, of both kinds."""
    apps = SecondFactor.objects.filter(person_id=person_id).count()
    return apps + Passkey.objects.filter(person_id=person_id).count()


def digest_of_code(code: str) -> bytes:
    """Return what is stored of an operator's code or a recovery code, in whatever way it was typed."""
    return hashlib.sha256("".join(filter(str.isalnum, code.lower())).encode()).digest()


def may_enrol(person_id: UUID, *, operators_code: str | None) -> bool:
    """Lock the factors of a person of the staff for this transaction; whether one more may be enrolled.

    operators_code: the code that came with a session that has passed no factor, which may enrol the very first one
    alone; None for a session that has passed one. An accepted code is used up.
    """
    member = Member.objects.select_for_update().filter(person_id=person_id).first()
    if member is None or operators_code is None:
        return member is not None
    digest, until = bytes(member.enrolment_digest or b""), member.enrolment_until
    known = secrets.compare_digest(digest, digest_of_code(operators_code))
    if not known or until is None or until < timezone.now() or number(person_id):
        return False
    member.enrolment_digest = member.enrolment_until = None
    member.save(update_fields=["enrolment_digest", "enrolment_until"])
    return True


def enrol(person_id: UUID, secret: str, code: str, *, operators_code: str | None) -> bool:
    """Keep a new secret, in the place of the present app's, if the code proves that the app has it.

    operators_code: as in may_enrol(). False for a wrong code.
    """
    step = step_of(secret, code)
    if step is None:
        return False
    with transaction.atomic(using="staff"):
        if not may_enrol(person_id, operators_code=operators_code):
            return False
        SecondFactor.objects.update_or_create(
            person_id=person_id, defaults={"secret": seal(secret.encode()), "last_step": step}
        )
    return True


def remove(person_id: UUID, factor_id: UUID) -> str | None:
    """Remove a factor of a person and return its kind; None if it is not theirs, or the last that they have."""
    with transaction.atomic(using="staff"):
        if not may_enrol(person_id, operators_code=None) or number(person_id) < 2:
            return None
        for kind, model in (("app", SecondFactor), ("passkey", Passkey)):
            if model.objects.filter(person_id=person_id, id=factor_id).delete()[0]:
                return kind
    return None


def verify(person_id: UUID, code: str) -> bool:
    """Whether this is a code of the person's app that was not used before."""
    factor = SecondFactor.objects.filter(person_id=person_id).first()
    if factor is None:
        return False
    step = step_of(open_sealed(bytes(factor.secret)).decode(), code)
    if step is None:
        return False
    # Conditional, so that of two requests with one code only one passes.
    return bool(SecondFactor.objects.filter(id=factor.id, last_step__lt=step).update(last_step=step))
