"""Return one webhook endpoint without its secret."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.webhook_endpoint import WebhookEndpoint
from ...types import UNSET, Unset


def _get_kwargs(
    endpoint_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/webhook-endpoints/{endpoint_id}".format(
            endpoint_id=quote(str(endpoint_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> WebhookEndpoint:
    response_200 = WebhookEndpoint.from_dict(response.json())

    return response_200


def sync(
    endpoint_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> WebhookEndpoint:
    """Return one webhook endpoint without its secret."""
    kwargs = _get_kwargs(
        endpoint_id=endpoint_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    endpoint_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> WebhookEndpoint:
    """Return one webhook endpoint without its secret."""
    kwargs = _get_kwargs(
        endpoint_id=endpoint_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
