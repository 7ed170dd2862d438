"""Webhooks: check the signature of a delivery (Standard Webhooks 1.0) and read its event."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

from ava_cloud.errors import AvaError

TOLERANCE_S = 300


class InvalidSignature(AvaError):
    """The delivery was not signed with this secret, or too long ago."""


def unwrap(body: bytes, headers: Mapping[str, str], secret: str, *, now_s: float | None = None) -> dict[str, Any]:
    """Return the event of a delivery: `type`, `timestamp` and `data`, as frontend_api_schema/webhooks describes them.

    body: the bytes as they arrived. secret: `whsec_…` of the endpoint. now_s: the time, for tests. Raises
    InvalidSignature.
    """
    sent = {name.lower(): value for name, value in headers.items()}
    try:
        number, stamp, signatures = sent["webhook-id"], sent["webhook-timestamp"], sent["webhook-signature"]
        age = abs((time.time() if now_s is None else now_s) - int(stamp))
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except KeyError as error:
        raise InvalidSignature(f"the delivery has no header {error.args[0]}") from error
    except (ValueError, binascii.Error) as error:
        raise InvalidSignature("the time or the secret cannot be read") from error
    if age > TOLERANCE_S:
        raise InvalidSignature(f"the delivery is {age:.0f} s old")
    digest = hmac.digest(key, f"{number}.{stamp}.".encode() + body, hashlib.sha256)
    expected = f"v1,{base64.b64encode(digest).decode()}"
    if not any(hmac.compare_digest(expected, each) for each in signatures.split(" ")):
        raise InvalidSignature("the delivery was not signed with this secret")
    event: dict[str, Any] = json.loads(body)
    return event
