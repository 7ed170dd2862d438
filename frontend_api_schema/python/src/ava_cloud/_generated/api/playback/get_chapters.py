"""Get the topics of the summary as chapters (WebVTT)."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    video_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/videos/{video_id}/chapters.vtt".format(
            video_id=quote(str(video_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> str:
    return response.text


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient,
) -> str:
    """Get the topics of the summary as chapters (WebVTT)."""
    kwargs = _get_kwargs(
        video_id=video_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient,
) -> str:
    """Get the topics of the summary as chapters (WebVTT)."""
    kwargs = _get_kwargs(
        video_id=video_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
