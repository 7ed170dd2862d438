"""Get one event of the audit log."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.audit_event import AuditEvent
from ...types import UNSET, Unset


def _get_kwargs(
    audit_event_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/audit-events/{audit_event_id}".format(
            audit_event_id=quote(str(audit_event_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> AuditEvent:
    response_200 = AuditEvent.from_dict(response.json())

    return response_200


def sync(
    audit_event_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> AuditEvent:
    """Get one event of the audit log."""
    kwargs = _get_kwargs(
        audit_event_id=audit_event_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    audit_event_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> AuditEvent:
    """Get one event of the audit log."""
    kwargs = _get_kwargs(
        audit_event_id=audit_event_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
