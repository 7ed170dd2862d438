"""List videos, newest first."""

import datetime
from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.list_videos_sort import ListVideosSort
from ...models.list_videos_status import ListVideosStatus
from ...models.video_page import VideoPage
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    collection_id: str | Unset = UNSET,
    created_since: datetime.datetime | Unset = UNSET,
    created_until: datetime.datetime | Unset = UNSET,
    cursor: str | Unset = UNSET,
    external_id: str | Unset = UNSET,
    limit: int | Unset = 20,
    metadata: str | Unset = UNSET,
    sort: ListVideosSort | Unset = UNSET,
    status: ListVideosStatus | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["collection_id"] = collection_id

    json_created_since: str | Unset = UNSET
    if not isinstance(created_since, Unset):
        json_created_since = created_since.isoformat()
    params["created_since"] = json_created_since

    json_created_until: str | Unset = UNSET
    if not isinstance(created_until, Unset):
        json_created_until = created_until.isoformat()
    params["created_until"] = json_created_until

    params["cursor"] = cursor

    params["external_id"] = external_id

    params["limit"] = limit

    params["metadata"] = metadata

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    json_status: str | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = status

    params["status"] = json_status

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/videos",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> VideoPage:
    response_200 = VideoPage.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    collection_id: str | Unset = UNSET,
    created_since: datetime.datetime | Unset = UNSET,
    created_until: datetime.datetime | Unset = UNSET,
    cursor: str | Unset = UNSET,
    external_id: str | Unset = UNSET,
    limit: int | Unset = 20,
    metadata: str | Unset = UNSET,
    sort: ListVideosSort | Unset = UNSET,
    status: ListVideosStatus | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> VideoPage:
    """List videos, newest first."""
    kwargs = _get_kwargs(
        collection_id=collection_id,
        created_since=created_since,
        created_until=created_until,
        cursor=cursor,
        external_id=external_id,
        limit=limit,
        metadata=metadata,
        sort=sort,
        status=status,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    collection_id: str | Unset = UNSET,
    created_since: datetime.datetime | Unset = UNSET,
    created_until: datetime.datetime | Unset = UNSET,
    cursor: str | Unset = UNSET,
    external_id: str | Unset = UNSET,
    limit: int | Unset = 20,
    metadata: str | Unset = UNSET,
    sort: ListVideosSort | Unset = UNSET,
    status: ListVideosStatus | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> VideoPage:
    """List videos, newest first."""
    kwargs = _get_kwargs(
        collection_id=collection_id,
        created_since=created_since,
        created_until=created_until,
        cursor=cursor,
        external_id=external_id,
        limit=limit,
        metadata=metadata,
        sort=sort,
        status=status,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
