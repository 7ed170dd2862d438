"""List every question of a comparison with the answers of every arm as they are now, one line each."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    comparison_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/comparisons/{comparison_id}/results".format(
            comparison_id=quote(str(comparison_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> str:
    return response.text


def sync(
    comparison_id: str,
    *,
    client: AuthenticatedClient,
) -> str:
    """List every question of a comparison with the answers of every arm as they are now, one line each."""
    kwargs = _get_kwargs(
        comparison_id=comparison_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    comparison_id: str,
    *,
    client: AuthenticatedClient,
) -> str:
    """List every question of a comparison with the answers of every arm as they are now, one line each."""
    kwargs = _get_kwargs(
        comparison_id=comparison_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
