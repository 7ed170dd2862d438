"""List every question of a batch as it is now, one line each, in the batch's order."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    batch_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/question-batches/{batch_id}/results".format(
            batch_id=quote(str(batch_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> str:
    return response.text


def sync(
    batch_id: str,
    *,
    client: AuthenticatedClient,
) -> str:
    """List every question of a batch as it is now, one line each, in the batch's order."""
    kwargs = _get_kwargs(
        batch_id=batch_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    batch_id: str,
    *,
    client: AuthenticatedClient,
) -> str:
    """List every question of a batch as it is now, one line each, in the batch's order."""
    kwargs = _get_kwargs(
        batch_id=batch_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
