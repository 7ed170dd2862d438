"""Replace the monthly limits."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.budget import Budget
from ...models.budget_request import BudgetRequest
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    body: BudgetRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/v1/budget",
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Budget:
    response_200 = Budget.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    body: BudgetRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Budget:
    """Replace the monthly limits."""
    kwargs = _get_kwargs(
        body=body,
        if_match=if_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: BudgetRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Budget:
    """Replace the monthly limits."""
    kwargs = _get_kwargs(
        body=body,
        if_match=if_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
