"""Return one event with the values that your webhook endpoints get."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.webhook_event import WebhookEvent
from ...types import UNSET, Unset


def _get_kwargs(
    webhook_event_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/webhook-events/{webhook_event_id}".format(
            webhook_event_id=quote(str(webhook_event_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> WebhookEvent:
    response_200 = WebhookEvent.from_dict(response.json())

    return response_200


def sync(
    webhook_event_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> WebhookEvent:
    """Return one event with the values that your webhook endpoints get."""
    kwargs = _get_kwargs(
        webhook_event_id=webhook_event_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    webhook_event_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> WebhookEvent:
    """Return one event with the values that your webhook endpoints get."""
    kwargs = _get_kwargs(
        webhook_event_id=webhook_event_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
