"""Recovery codes of staff: each signs a person in once whose app or device is lost. They are kept as digests."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from backend.staff.factors import digest_of_code, may_enrol
from backend.staff.models import RecoveryCode

NUMBER = 10
"""Codes that a person gets at once."""
_BYTES = 10
"""Length of a code: a digest of so many random bytes cannot be turned back by trying."""


def replace(person_id: UUID) -> Sequence[str]:
    """Make new codes in the place of all earlier ones, and return them; none for somebody who is no staff.

    The caller shows them once: nobody can read them again. The session has passed a factor.
    """
    codes = [_new_code() for _ in range(NUMBER)]
    with transaction.atomic(using="staff"):
        if not may_enrol(person_id, operators_code=None):
            return ()
        RecoveryCode.objects.filter(person_id=person_id).delete()
        RecoveryCode.objects.bulk_create(
            RecoveryCode(person_id=person_id, digest=digest_of_code(code)) for code in codes
        )
    return codes


def verify(person_id: UUID, code: str) -> bool:
    """Whether this is a code of the person that was not used before. It is used up."""
    unused = RecoveryCode.objects.filter(person_id=person_id, digest=digest_of_code(code), used_at=None)
    # Conditional, so that of two requests with one code only one passes.
    return bool(unused.update(used_at=timezone.now()))


def number_left(person_id: UUID) -> int:
    """Return how many codes of a person are unused."""
    return int(RecoveryCode.objects.filter(person_id=person_id, used_at=None).count())


def _new_code() -> str:
    text = base64.b32encode(secrets.token_bytes(_BYTES)).decode().lower()
    return "-".join(text[start : start + 4] for start in range(0, len(text), 4))
