"""Delete a clip with its files and shares."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    clip_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/clips/{clip_id}".format(
            clip_id=quote(str(clip_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    clip_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Delete a clip with its files and shares."""
    kwargs = _get_kwargs(
        clip_id=clip_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    clip_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Delete a clip with its files and shares."""
    kwargs = _get_kwargs(
        clip_id=clip_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
