"""Delete a budget."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...types import UNSET, Unset


def _get_kwargs(
    budget_id: str,
    *,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/budgets/{budget_id}".format(
            budget_id=quote(str(budget_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    budget_id: str,
    *,
    client: AuthenticatedClient,
    if_match: str | Unset = UNSET,
) -> None:
    """Delete a budget."""
    kwargs = _get_kwargs(
        budget_id=budget_id,
        if_match=if_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    budget_id: str,
    *,
    client: AuthenticatedClient,
    if_match: str | Unset = UNSET,
) -> None:
    """Delete a budget."""
    kwargs = _get_kwargs(
        budget_id=budget_id,
        if_match=if_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
