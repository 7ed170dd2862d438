"""List the attempts of a webhook delivery with your replies, newest first."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.webhook_attempt_page import WebhookAttemptPage
from ...types import UNSET, Unset


def _get_kwargs(
    delivery_id: str,
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["limit"] = limit

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/webhook-deliveries/{delivery_id}/attempts".format(
            delivery_id=quote(str(delivery_id), safe=""),
        ),
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> WebhookAttemptPage:
    response_200 = WebhookAttemptPage.from_dict(response.json())

    return response_200


def sync(
    delivery_id: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    if_none_match: str | Unset = UNSET,
) -> WebhookAttemptPage:
    """List the attempts of a webhook delivery with your replies, newest first."""
    kwargs = _get_kwargs(
        delivery_id=delivery_id,
        cursor=cursor,
        limit=limit,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    delivery_id: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    if_none_match: str | Unset = UNSET,
) -> WebhookAttemptPage:
    """List the attempts of a webhook delivery with your replies, newest first."""
    kwargs = _get_kwargs(
        delivery_id=delivery_id,
        cursor=cursor,
        limit=limit,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
