"""Get one budget, with what is used, reserved and left."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.own_budget import OwnBudget
from ...types import UNSET, Unset


def _get_kwargs(
    budget_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/budgets/{budget_id}".format(
            budget_id=quote(str(budget_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> OwnBudget:
    response_200 = OwnBudget.from_dict(response.json())

    return response_200


def sync(
    budget_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> OwnBudget:
    """Get one budget, with what is used, reserved and left."""
    kwargs = _get_kwargs(
        budget_id=budget_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    budget_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> OwnBudget:
    """Get one budget, with what is used, reserved and left."""
    kwargs = _get_kwargs(
        budget_id=budget_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
