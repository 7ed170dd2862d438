"""List the credit that was granted to you, newest first, with what is left of it."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.credit_page import CreditPage
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["limit"] = limit

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/credits",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> CreditPage:
    response_200 = CreditPage.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    if_none_match: str | Unset = UNSET,
) -> CreditPage:
    """List the credit that was granted to you, newest first, with what is left of it."""
    kwargs = _get_kwargs(
        cursor=cursor,
        limit=limit,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    if_none_match: str | Unset = UNSET,
) -> CreditPage:
    """List the credit that was granted to you, newest first, with what is left of it."""
    kwargs = _get_kwargs(
        cursor=cursor,
        limit=limit,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
