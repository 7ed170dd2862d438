"""Change how members sign in."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.sign_in_settings import SignInSettings
from ...models.sign_in_settings_request import SignInSettingsRequest
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    body: SignInSettingsRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/v1/sign-in-settings",
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> SignInSettings:
    response_200 = SignInSettings.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    body: SignInSettingsRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> SignInSettings:
    """Change how members sign in."""
    kwargs = _get_kwargs(
        body=body,
        if_match=if_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: SignInSettingsRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> SignInSettings:
    """Change how members sign in."""
    kwargs = _get_kwargs(
        body=body,
        if_match=if_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
