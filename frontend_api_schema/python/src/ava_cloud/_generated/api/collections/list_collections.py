"""List collections, newest first."""

import datetime
from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.collection_page import CollectionPage
from ...models.list_collections_sort import ListCollectionsSort
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    created_since: datetime.datetime | Unset = UNSET,
    created_until: datetime.datetime | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    sort: ListCollectionsSort | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

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

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/collections",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> CollectionPage:
    response_200 = CollectionPage.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    created_since: datetime.datetime | Unset = UNSET,
    created_until: datetime.datetime | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    sort: ListCollectionsSort | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> CollectionPage:
    """List collections, newest first."""
    kwargs = _get_kwargs(
        created_since=created_since,
        created_until=created_until,
        cursor=cursor,
        limit=limit,
        sort=sort,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    created_since: datetime.datetime | Unset = UNSET,
    created_until: datetime.datetime | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    sort: ListCollectionsSort | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> CollectionPage:
    """List collections, newest first."""
    kwargs = _get_kwargs(
        created_since=created_since,
        created_until=created_until,
        cursor=cursor,
        limit=limit,
        sort=sort,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
