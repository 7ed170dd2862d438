"""List shares, newest first, with how often each was viewed."""

import datetime
from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.list_shares_sort import ListSharesSort
from ...models.shared_link_page import SharedLinkPage
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    clip_id: str | Unset = UNSET,
    created_since: datetime.datetime | Unset = UNSET,
    created_until: datetime.datetime | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    question_id: str | Unset = UNSET,
    sort: ListSharesSort | Unset = UNSET,
    video_id: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["clip_id"] = clip_id

    json_created_since: str | Unset = UNSET
    if not isinstance(created_since, Unset):
        json_created_since = created_since.isoformat()
    params["created_since"] = json_created_since

    json_created_until: str | Unset = UNSET
    if not isinstance(created_until, Unset):
        json_created_until = created_until.isoformat()
    params["created_until"] = json_created_until

    params["cursor"] = cursor

    params["limit"] = limit

    params["question_id"] = question_id

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params["video_id"] = video_id

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/shares",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> SharedLinkPage:
    response_200 = SharedLinkPage.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    clip_id: str | Unset = UNSET,
    created_since: datetime.datetime | Unset = UNSET,
    created_until: datetime.datetime | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    question_id: str | Unset = UNSET,
    sort: ListSharesSort | Unset = UNSET,
    video_id: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> SharedLinkPage:
    """List shares, newest first, with how often each was viewed."""
    kwargs = _get_kwargs(
        clip_id=clip_id,
        created_since=created_since,
        created_until=created_until,
        cursor=cursor,
        limit=limit,
        question_id=question_id,
        sort=sort,
        video_id=video_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    clip_id: str | Unset = UNSET,
    created_since: datetime.datetime | Unset = UNSET,
    created_until: datetime.datetime | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    question_id: str | Unset = UNSET,
    sort: ListSharesSort | Unset = UNSET,
    video_id: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> SharedLinkPage:
    """List shares, newest first, with how often each was viewed."""
    kwargs = _get_kwargs(
        clip_id=clip_id,
        created_since=created_since,
        created_until=created_until,
        cursor=cursor,
        limit=limit,
        question_id=question_id,
        sort=sort,
        video_id=video_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
