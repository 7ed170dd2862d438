"""List the budgets of the tenant and of its API keys, with what is used, reserved and left."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.own_budget_page import OwnBudgetPage
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
        "url": "/v1/budgets",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> OwnBudgetPage:
    response_200 = OwnBudgetPage.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    if_none_match: str | Unset = UNSET,
) -> OwnBudgetPage:
    """List the budgets of the tenant and of its API keys, with what is used, reserved and left."""
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
) -> OwnBudgetPage:
    """List the budgets of the tenant and of its API keys, with what is used, reserved and left."""
    kwargs = _get_kwargs(
        cursor=cursor,
        limit=limit,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
