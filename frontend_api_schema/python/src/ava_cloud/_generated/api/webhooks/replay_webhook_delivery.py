"""Send a webhook delivery again, with the same `webhook-id` and body."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.webhook_delivery import WebhookDelivery
from ...types import UNSET, Unset


def _get_kwargs(
    delivery_id: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/webhook-deliveries/{delivery_id}/replay".format(
            delivery_id=quote(str(delivery_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> WebhookDelivery:
    response_202 = WebhookDelivery.from_dict(response.json())

    return response_202


def sync(
    delivery_id: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> WebhookDelivery:
    """Send a webhook delivery again, with the same `webhook-id` and body."""
    kwargs = _get_kwargs(
        delivery_id=delivery_id,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    delivery_id: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> WebhookDelivery:
    """Send a webhook delivery again, with the same `webhook-id` and body."""
    kwargs = _get_kwargs(
        delivery_id=delivery_id,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
