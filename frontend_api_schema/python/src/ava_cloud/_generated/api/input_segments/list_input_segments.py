"""List the segments that were appended to a recording, in order."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.input_segment_page import InputSegmentPage
from ...types import UNSET, Unset


def _get_kwargs(
    video_id: str,
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["limit"] = limit

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/videos/{video_id}/segments".format(
            video_id=quote(str(video_id), safe=""),
        ),
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> InputSegmentPage:
    response_200 = InputSegmentPage.from_dict(response.json())

    return response_200


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    if_none_match: str | Unset = UNSET,
) -> InputSegmentPage:
    """List the segments that were appended to a recording, in order."""
    kwargs = _get_kwargs(
        video_id=video_id,
        cursor=cursor,
        limit=limit,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    if_none_match: str | Unset = UNSET,
) -> InputSegmentPage:
    """List the segments that were appended to a recording, in order."""
    kwargs = _get_kwargs(
        video_id=video_id,
        cursor=cursor,
        limit=limit,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
