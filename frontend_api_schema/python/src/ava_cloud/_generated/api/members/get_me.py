"""Return the signed-in person and the tenants that the session reaches."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.me import Me
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/me",
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Me:
    response_200 = Me.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Me:
    """Return the signed-in person and the tenants that the session reaches."""
    kwargs = _get_kwargs(
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Me:
    """Return the signed-in person and the tenants that the session reaches."""
    kwargs = _get_kwargs(
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
