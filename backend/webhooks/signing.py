"""Signatures of webhook requests: Standard Webhooks 1.0.0."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from standardwebhooks import Webhook

SECRET_BYTES = 32


def new_secret() -> str:
    """Return a random signing secret in the receiver's form: whsec_ and base64."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signed_headers(*, message_id: str, body: str, secrets: Sequence[str], at: datetime) -> dict[str, str]:
    """Return the headers of one attempt.

    message_id: the same for every attempt of an event. secrets: one secret, or two while a rotation overlaps; the
    receiver accepts either signature. at: aware. Raises ValueError for a naive time or no secret.
    """
    if at.tzinfo is None:
        raise ValueError("a signature needs an aware time")
    if not secrets:
        raise ValueError("a signature needs a secret")
    # The library replaces the zone instead of converting to it.
    at = at.astimezone(UTC)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(Webhook(secret).sign(message_id, at, body) for secret in secrets),
    }
