"""Delete a collection."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    collection_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/collections/{collection_id}".format(
            collection_id=quote(str(collection_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    collection_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Delete a collection."""
    kwargs = _get_kwargs(
        collection_id=collection_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    collection_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Delete a collection."""
    kwargs = _get_kwargs(
        collection_id=collection_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
