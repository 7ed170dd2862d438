"""Get a search with its results as far as there are any."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.search import Search
from ...types import UNSET, Unset


def _get_kwargs(
    search_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/searches/{search_id}".format(
            search_id=quote(str(search_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Search:
    response_200 = Search.from_dict(response.json())

    return response_200


def sync(
    search_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Search:
    """Get a search with its results as far as there are any."""
    kwargs = _get_kwargs(
        search_id=search_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    search_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Search:
    """Get a search with its results as far as there are any."""
    kwargs = _get_kwargs(
        search_id=search_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
