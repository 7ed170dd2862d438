"""Change the title, collection, language, audio, external_id, metadata or recording time of a video."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.video import Video
from ...models.video_update_request import VideoUpdateRequest
from ...types import UNSET, Unset


def _get_kwargs(
    video_id: str,
    *,
    body: VideoUpdateRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/v1/videos/{video_id}".format(
            video_id=quote(str(video_id), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Video:
    response_200 = Video.from_dict(response.json())

    return response_200


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient,
    body: VideoUpdateRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Video:
    """Change the title, collection, language, audio, external_id, metadata or recording time of a video."""
    kwargs = _get_kwargs(
        video_id=video_id,
        body=body,
        if_match=if_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient,
    body: VideoUpdateRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Video:
    """Change the title, collection, language, audio, external_id, metadata or recording time of a video."""
    kwargs = _get_kwargs(
        video_id=video_id,
        body=body,
        if_match=if_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
