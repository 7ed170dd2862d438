"""Make a new signing secret, which cannot be read again."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.webhook_secret import WebhookSecret
from ...models.webhook_secret_rotation_request import WebhookSecretRotationRequest
from ...types import UNSET, Unset


def _get_kwargs(
    endpoint_id: str,
    *,
    body: WebhookSecretRotationRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/webhook-endpoints/{endpoint_id}/rotate-secret".format(
            endpoint_id=quote(str(endpoint_id), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> WebhookSecret:
    response_200 = WebhookSecret.from_dict(response.json())

    return response_200


def sync(
    endpoint_id: str,
    *,
    client: AuthenticatedClient,
    body: WebhookSecretRotationRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> WebhookSecret:
    """Make a new signing secret, which cannot be read again."""
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
    body: WebhookSecretRotationRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> WebhookSecret:
    """Make a new signing secret, which cannot be read again."""
    kwargs = _get_kwargs(
        endpoint_id=endpoint_id,
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
