"""Rename an API key."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.api_key import ApiKey
from ...models.api_key_update_request import ApiKeyUpdateRequest
from ...types import UNSET, Unset


def _get_kwargs(
    key_id: str,
    *,
    body: ApiKeyUpdateRequest,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/v1/api-keys/{key_id}".format(
            key_id=quote(str(key_id), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> ApiKey:
    response_200 = ApiKey.from_dict(response.json())

    return response_200


def sync(
    key_id: str,
    *,
    client: AuthenticatedClient,
    body: ApiKeyUpdateRequest,
    if_match: str | Unset = UNSET,
) -> ApiKey:
    """Rename an API key."""
    kwargs = _get_kwargs(
        key_id=key_id,
        body=body,
        if_match=if_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    key_id: str,
    *,
    client: AuthenticatedClient,
    body: ApiKeyUpdateRequest,
    if_match: str | Unset = UNSET,
) -> ApiKey:
    """Rename an API key."""
    kwargs = _get_kwargs(
        key_id=key_id,
        body=body,
        if_match=if_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
