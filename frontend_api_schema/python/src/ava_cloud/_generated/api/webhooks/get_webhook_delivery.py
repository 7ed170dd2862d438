"""Return one webhook delivery."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.webhook_delivery import WebhookDelivery
from ...types import UNSET, Unset


def _get_kwargs(
    delivery_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/webhook-deliveries/{delivery_id}".format(
            delivery_id=quote(str(delivery_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> WebhookDelivery:
    response_200 = WebhookDelivery.from_dict(response.json())

    return response_200


def sync(
    delivery_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> WebhookDelivery:
    """Return one webhook delivery."""
    kwargs = _get_kwargs(
        delivery_id=delivery_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    delivery_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> WebhookDelivery:
    """Return one webhook delivery."""
    kwargs = _get_kwargs(
        delivery_id=delivery_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
