"""Create a webhook endpoint."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.webhook_endpoint_request import WebhookEndpointRequest
from ...models.webhook_endpoint_with_secret import WebhookEndpointWithSecret
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    body: WebhookEndpointRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/webhook-endpoints",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> WebhookEndpointWithSecret:
    response_201 = WebhookEndpointWithSecret.from_dict(response.json())

    return response_201


def sync(
    *,
    client: AuthenticatedClient,
    body: WebhookEndpointRequest,
    idempotency_key: str | Unset = UNSET,
) -> WebhookEndpointWithSecret:
    """Create a webhook endpoint."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: WebhookEndpointRequest,
    idempotency_key: str | Unset = UNSET,
) -> WebhookEndpointWithSecret:
    """Create a webhook endpoint."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
