"""Send the event `webhook.test` to one webhook endpoint."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.webhook_delivery import WebhookDelivery
from ...types import UNSET, Unset


def _get_kwargs(
    endpoint_id: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/webhook-endpoints/{endpoint_id}/test".format(
            endpoint_id=quote(str(endpoint_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> WebhookDelivery:
    response_202 = WebhookDelivery.from_dict(response.json())

    return response_202


def sync(
    endpoint_id: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> WebhookDelivery:
    """Send the event `webhook.test` to one webhook endpoint."""
    kwargs = _get_kwargs(
        endpoint_id=endpoint_id,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    endpoint_id: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> WebhookDelivery:
    """Send the event `webhook.test` to one webhook endpoint."""
    kwargs = _get_kwargs(
        endpoint_id=endpoint_id,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
