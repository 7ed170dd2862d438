"""Send one webhook endpoint the events since a time that it has not received, oldest first."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.webhook_replay import WebhookReplay
from ...models.webhook_replay_request import WebhookReplayRequest
from ...types import UNSET, Unset


def _get_kwargs(
    endpoint_id: str,
    *,
    body: WebhookReplayRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/webhook-endpoints/{endpoint_id}/replay".format(
            endpoint_id=quote(str(endpoint_id), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> WebhookReplay:
    response_202 = WebhookReplay.from_dict(response.json())

    return response_202


def sync(
    endpoint_id: str,
    *,
    client: AuthenticatedClient,
    body: WebhookReplayRequest,
    idempotency_key: str | Unset = UNSET,
) -> WebhookReplay:
    """Send one webhook endpoint the events since a time that it has not received, oldest first."""
    kwargs = _get_kwargs(
        endpoint_id=endpoint_id,
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    endpoint_id: str,
    *,
    client: AuthenticatedClient,
    body: WebhookReplayRequest,
    idempotency_key: str | Unset = UNSET,
) -> WebhookReplay:
    """Send one webhook endpoint the events since a time that it has not received, oldest first."""
    kwargs = _get_kwargs(
        endpoint_id=endpoint_id,
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
