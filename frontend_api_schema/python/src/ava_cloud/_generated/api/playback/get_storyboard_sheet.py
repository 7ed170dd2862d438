"""Get one sheet of a storyboard: a redirect to object storage."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    video_id: str,
    n: int,
    place: int,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/videos/{video_id}/hls/s/{n}-{place}.jpg".format(
            video_id=quote(str(video_id), safe=""),
            n=quote(str(n), safe=""),
            place=quote(str(place), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    video_id: str,
    n: int,
    place: int,
    *,
    client: AuthenticatedClient,
) -> None:
    """Get one sheet of a storyboard: a redirect to object storage."""
    kwargs = _get_kwargs(
        video_id=video_id,
        n=n,
        place=place,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    video_id: str,
    n: int,
    place: int,
    *,
    client: AuthenticatedClient,
) -> None:
    """Get one sheet of a storyboard: a redirect to object storage."""
    kwargs = _get_kwargs(
        video_id=video_id,
        n=n,
        place=place,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
