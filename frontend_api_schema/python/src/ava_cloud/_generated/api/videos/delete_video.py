"""Delete a video with its recording, index and thumbnails."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.video import Video
from ...types import UNSET, Unset


def _get_kwargs(
    video_id: str,
    *,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/videos/{video_id}".format(
            video_id=quote(str(video_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Video:
    response_202 = Video.from_dict(response.json())

    return response_202


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient,
    if_match: str | Unset = UNSET,
) -> Video:
    """Delete a video with its recording, index and thumbnails."""
    kwargs = _get_kwargs(
        video_id=video_id,
        if_match=if_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient,
    if_match: str | Unset = UNSET,
) -> Video:
    """Delete a video with its recording, index and thumbnails."""
    kwargs = _get_kwargs(
        video_id=video_id,
        if_match=if_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
