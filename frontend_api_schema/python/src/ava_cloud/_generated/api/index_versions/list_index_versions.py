"""List the indexes that were built for a video, newest first."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.index_version_page import IndexVersionPage
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
        "url": "/v1/videos/{video_id}/versions".format(
            video_id=quote(str(video_id), safe=""),
        ),
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> IndexVersionPage:
    response_200 = IndexVersionPage.from_dict(response.json())

    return response_200


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    if_none_match: str | Unset = UNSET,
) -> IndexVersionPage:
    """List the indexes that were built for a video, newest first."""
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
) -> IndexVersionPage:
    """List the indexes that were built for a video, newest first."""
    kwargs = _get_kwargs(
        video_id=video_id,
        cursor=cursor,
        limit=limit,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
