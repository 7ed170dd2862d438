"""Events of the service for a program on this machine: they are read from the list of events, and need no endpoint."""

from __future__ import annotations

import base64
import datetime
import hashlib
import hmac
import json
import secrets
import time
from typing import TYPE_CHECKING

import httpx

from ava_cloud.cli.output import Output

if TYPE_CHECKING:
    from ava_cloud._sync.client import Ava

_LOOK_S = 2.0


def forward_events(ava: Ava, url: str, types: frozenset[str], out: Output) -> None:
    """Post each event from now on to url, signed with a secret of this run, until Ctrl-C."""
    from ava_cloud._generated.api.webhooks import list_webhook_events
    from ava_cloud._requests import given

    key = secrets.token_bytes(24)
    out.note(f"The secret of this run is whsec_{base64.b64encode(key).decode()}")
    out.note(f"Events go to {url}. Ctrl-C ends it.")
    since, cursor = datetime.datetime.now(datetime.UTC), None
    with httpx.Client(timeout=20.0) as target:
        while True:
            page = list_webhook_events.sync(
                client=ava.api, created_since=since, sort="created_at", cursor=given(cursor), limit=100
            )
            for event in page.data:
                if not types or event.type_ in types:
                    body = json.dumps(event.to_dict()).encode()
                    out.note(f"{event.type_} {event.id}: {_posted(target, url, event.id, body, key)}")
            if page.next_cursor is not None:
                cursor = page.next_cursor
            else:
                if page.data:
                    since, cursor = _after(page.data[-1].timestamp), None
                time.sleep(_LOOK_S)


def _after(timestamp: str) -> datetime.datetime:
    """Return the smallest time after that of an event."""
    return datetime.datetime.fromisoformat(timestamp) + datetime.timedelta(microseconds=1)


def _posted(target: httpx.Client, url: str, number: str, body: bytes, key: bytes) -> str:
    stamp = str(int(time.time()))
    digest = hmac.digest(key, f"{number}.{stamp}.".encode() + body, hashlib.sha256)
    headers = {
        "content-type": "application/json",
        "webhook-id": number,
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
    try:
        return str(target.post(url, content=body, headers=headers).status_code)
    except httpx.TransportError as error:
        return f"not delivered: {error}"
