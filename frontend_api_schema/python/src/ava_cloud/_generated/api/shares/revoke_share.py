"""Revoke a share."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    share_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/shares/{share_id}".format(
            share_id=quote(str(share_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    share_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Revoke a share."""
    kwargs = _get_kwargs(
        share_id=share_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    share_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Revoke a share."""
    kwargs = _get_kwargs(
        share_id=share_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
