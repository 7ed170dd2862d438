"""Change a webhook endpoint, or switch it on or off."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.webhook_endpoint import WebhookEndpoint
from ...models.webhook_endpoint_update_request import WebhookEndpointUpdateRequest
from ...types import UNSET, Unset


def _get_kwargs(
    endpoint_id: str,
    *,
    body: WebhookEndpointUpdateRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/v1/webhook-endpoints/{endpoint_id}".format(
            endpoint_id=quote(str(endpoint_id), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> WebhookEndpoint:
    response_200 = WebhookEndpoint.from_dict(response.json())

    return response_200


def sync(
    endpoint_id: str,
    *,
    client: AuthenticatedClient,
    body: WebhookEndpointUpdateRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> WebhookEndpoint:
    """Change a webhook endpoint, or switch it on or off."""
    kwargs = _get_kwargs(
        endpoint_id=endpoint_id,
        body=body,
        if_match=if_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    endpoint_id: str,
    *,
    client: AuthenticatedClient,
    body: WebhookEndpointUpdateRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> WebhookEndpoint:
    """Change a webhook endpoint, or switch it on or off."""
    kwargs = _get_kwargs(
        endpoint_id=endpoint_id,
        body=body,
        if_match=if_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
