"""Delete a search with its results."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    search_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/searches/{search_id}".format(
            search_id=quote(str(search_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    search_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Delete a search with its results."""
    kwargs = _get_kwargs(
        search_id=search_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    search_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Delete a search with its results."""
    kwargs = _get_kwargs(
        search_id=search_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
