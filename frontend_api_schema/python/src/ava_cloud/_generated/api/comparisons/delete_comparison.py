"""Delete a comparison that is over, with its items, questions and grades."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    comparison_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/comparisons/{comparison_id}".format(
            comparison_id=quote(str(comparison_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    comparison_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Delete a comparison that is over, with its items, questions and grades."""
    kwargs = _get_kwargs(
        comparison_id=comparison_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    comparison_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Delete a comparison that is over, with its items, questions and grades."""
    kwargs = _get_kwargs(
        comparison_id=comparison_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
