"""Return how members sign in: the second factor, and the tenant's OpenID Connect provider."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.sign_in_settings import SignInSettings
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
        "url": "/v1/sign-in-settings",
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> SignInSettings:
    response_200 = SignInSettings.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> SignInSettings:
    """Return how members sign in: the second factor, and the tenant's OpenID Connect provider."""
    kwargs = _get_kwargs(
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> SignInSettings:
    """Return how members sign in: the second factor, and the tenant's OpenID Connect provider."""
    kwargs = _get_kwargs(
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
