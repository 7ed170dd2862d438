"""Verify a webhook of AVA Cloud. It needs Python's standard library only."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

TOLERANCE_S = 300


class InvalidWebhook(Exception):
    """The request does not come from AVA Cloud, or is too old: answer 400 and do nothing else."""


def verify(secret: str, headers: Mapping[str, str], body: bytes, *, now: float | None = None) -> dict[str, Any]:
    """Return the event of a request. Raises InvalidWebhook.

    secret: the endpoint's signing secret, which begins with `whsec_`. body: the bytes as they arrived.
    """
    found = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, sent_at = found["webhook-id"], int(found["webhook-timestamp"])
        signatures = found["webhook-signature"].split(" ")
    except (KeyError, ValueError):
        raise InvalidWebhook("a header is missing or malformed") from None
    if abs((time.time() if now is None else now) - sent_at) > TOLERANCE_S:
        raise InvalidWebhook("the timestamp is too far from now")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.digest(key, f"{message_id}.{sent_at}.".encode() + body, hashlib.sha256)
    expected = f"v1,{base64.b64encode(digest).decode()}"
    # After a rotation a request carries two signatures; one that fits is enough.
    if not any(hmac.compare_digest(expected.encode(), each.encode()) for each in signatures):
        raise InvalidWebhook("no signature fits the body and the secret")
    event: dict[str, Any] = json.loads(body)
    return event
