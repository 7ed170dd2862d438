"""Create a successor of an API key with the same name and scopes."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.api_key_rotation_request import ApiKeyRotationRequest
from ...models.api_key_with_secret import ApiKeyWithSecret
from ...types import UNSET, Unset


def _get_kwargs(
    key_id: str,
    *,
    body: ApiKeyRotationRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/api-keys/{key_id}/rotate".format(
            key_id=quote(str(key_id), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> ApiKeyWithSecret:
    response_201 = ApiKeyWithSecret.from_dict(response.json())

    return response_201


def sync(
    key_id: str,
    *,
    client: AuthenticatedClient,
    body: ApiKeyRotationRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> ApiKeyWithSecret:
    """Create a successor of an API key with the same name and scopes."""
    kwargs = _get_kwargs(
        key_id=key_id,
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    key_id: str,
    *,
    client: AuthenticatedClient,
    body: ApiKeyRotationRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> ApiKeyWithSecret:
    """Create a successor of an API key with the same name and scopes."""
    kwargs = _get_kwargs(
        key_id=key_id,
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
