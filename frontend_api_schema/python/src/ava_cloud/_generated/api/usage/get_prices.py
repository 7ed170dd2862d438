"""Get the prices, allowances and tiers that apply to the tenant."""

import datetime
from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.price_list import PriceList
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    at: datetime.datetime | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    json_at: str | Unset = UNSET
    if not isinstance(at, Unset):
        json_at = at.isoformat()
    params["at"] = json_at

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/prices",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> PriceList:
    response_200 = PriceList.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    at: datetime.datetime | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> PriceList:
    """Get the prices, allowances and tiers that apply to the tenant."""
    kwargs = _get_kwargs(
        at=at,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    at: datetime.datetime | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> PriceList:
    """Get the prices, allowances and tiers that apply to the tenant."""
    kwargs = _get_kwargs(
        at=at,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
