"""Get one piece of a rendition: a redirect to object storage, which you may keep for as long as its headers say."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    video_id: str,
    n: int,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/videos/{video_id}/hls/p/{n}.mp4".format(
            video_id=quote(str(video_id), safe=""),
            n=quote(str(n), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    video_id: str,
    n: int,
    *,
    client: AuthenticatedClient,
) -> None:
    """Get one piece of a rendition: a redirect to object storage, which you may keep for as long as its headers say."""
    kwargs = _get_kwargs(
        video_id=video_id,
        n=n,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    video_id: str,
    n: int,
    *,
    client: AuthenticatedClient,
) -> None:
    """Get one piece of a rendition: a redirect to object storage, which you may keep for as long as its headers say."""
    kwargs = _get_kwargs(
        video_id=video_id,
        n=n,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
