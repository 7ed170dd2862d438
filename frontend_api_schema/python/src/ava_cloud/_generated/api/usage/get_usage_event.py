"""Get one row of the usage ledger."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.usage_event import UsageEvent
from ...types import UNSET, Unset


def _get_kwargs(
    usage_event_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/usage/events/{usage_event_id}".format(
            usage_event_id=quote(str(usage_event_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> UsageEvent:
    response_200 = UsageEvent.from_dict(response.json())

    return response_200


def sync(
    usage_event_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> UsageEvent:
    """Get one row of the usage ledger."""
    kwargs = _get_kwargs(
        usage_event_id=usage_event_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    usage_event_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> UsageEvent:
    """Get one row of the usage ledger."""
    kwargs = _get_kwargs(
        usage_event_id=usage_event_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
