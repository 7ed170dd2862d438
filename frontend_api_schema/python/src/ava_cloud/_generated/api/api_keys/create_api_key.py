"""Create an API key, with no right that the calling key lacks."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.api_key_request import ApiKeyRequest
from ...models.api_key_with_secret import ApiKeyWithSecret
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    body: ApiKeyRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/api-keys",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> ApiKeyWithSecret:
    response_201 = ApiKeyWithSecret.from_dict(response.json())

    return response_201


def sync(
    *,
    client: AuthenticatedClient,
    body: ApiKeyRequest,
    idempotency_key: str | Unset = UNSET,
) -> ApiKeyWithSecret:
    """Create an API key, with no right that the calling key lacks."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: ApiKeyRequest,
    idempotency_key: str | Unset = UNSET,
) -> ApiKeyWithSecret:
    """Create an API key, with no right that the calling key lacks."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
