"""Get events, topics, speech, objects and gaps of a video in one reply, as arrays by field."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.get_timeline_include import GetTimelineInclude
from ...models.timeline import Timeline
from ...types import UNSET, Unset


def _get_kwargs(
    video_id: str,
    *,
    end_ms: int | Unset = UNSET,
    include: GetTimelineInclude | Unset = UNSET,
    lanes: str | Unset = UNSET,
    resolution_ms: int | Unset = UNSET,
    start_ms: int | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["end_ms"] = end_ms

    json_include: str | Unset = UNSET
    if not isinstance(include, Unset):
        json_include = include

    params["include"] = json_include

    params["lanes"] = lanes

    params["resolution_ms"] = resolution_ms

    params["start_ms"] = start_ms

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/videos/{video_id}/timeline".format(
            video_id=quote(str(video_id), safe=""),
        ),
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Timeline:
    response_200 = Timeline.from_dict(response.json())

    return response_200


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient,
    end_ms: int | Unset = UNSET,
    include: GetTimelineInclude | Unset = UNSET,
    lanes: str | Unset = UNSET,
    resolution_ms: int | Unset = UNSET,
    start_ms: int | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Timeline:
    """Get events, topics, speech, objects and gaps of a video in one reply, as arrays by field."""
    kwargs = _get_kwargs(
        video_id=video_id,
        end_ms=end_ms,
        include=include,
        lanes=lanes,
        resolution_ms=resolution_ms,
        start_ms=start_ms,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient,
    end_ms: int | Unset = UNSET,
    include: GetTimelineInclude | Unset = UNSET,
    lanes: str | Unset = UNSET,
    resolution_ms: int | Unset = UNSET,
    start_ms: int | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Timeline:
    """Get events, topics, speech, objects and gaps of a video in one reply, as arrays by field."""
    kwargs = _get_kwargs(
        video_id=video_id,
        end_ms=end_ms,
        include=include,
        lanes=lanes,
        resolution_ms=resolution_ms,
        start_ms=start_ms,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
