"""Get a comparison: how far it is, and the figures of every arm and pair so far."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.comparison import Comparison
from ...types import UNSET, Unset


def _get_kwargs(
    comparison_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/comparisons/{comparison_id}".format(
            comparison_id=quote(str(comparison_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Comparison:
    response_200 = Comparison.from_dict(response.json())

    return response_200


def sync(
    comparison_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Comparison:
    """Get a comparison: how far it is, and the figures of every arm and pair so far."""
    kwargs = _get_kwargs(
        comparison_id=comparison_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    comparison_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Comparison:
    """Get a comparison: how far it is, and the figures of every arm and pair so far."""
    kwargs = _get_kwargs(
        comparison_id=comparison_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
