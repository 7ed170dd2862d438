"""List relations between entities, with the event that shows each."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.relation_page import RelationPage
from ...types import UNSET, Unset


def _get_kwargs(
    video_id: str,
    *,
    cursor: str | Unset = UNSET,
    end_ms: int | Unset = UNSET,
    limit: int | Unset = 20,
    q: str | Unset = UNSET,
    start_ms: int | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["end_ms"] = end_ms

    params["limit"] = limit

    params["q"] = q

    params["start_ms"] = start_ms

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/videos/{video_id}/relations".format(
            video_id=quote(str(video_id), safe=""),
        ),
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> RelationPage:
    response_200 = RelationPage.from_dict(response.json())

    return response_200


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    end_ms: int | Unset = UNSET,
    limit: int | Unset = 20,
    q: str | Unset = UNSET,
    start_ms: int | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> RelationPage:
    """List relations between entities, with the event that shows each."""
    kwargs = _get_kwargs(
        video_id=video_id,
        cursor=cursor,
        end_ms=end_ms,
        limit=limit,
        q=q,
        start_ms=start_ms,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    end_ms: int | Unset = UNSET,
    limit: int | Unset = 20,
    q: str | Unset = UNSET,
    start_ms: int | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> RelationPage:
    """List relations between entities, with the event that shows each."""
    kwargs = _get_kwargs(
        video_id=video_id,
        cursor=cursor,
        end_ms=end_ms,
        limit=limit,
        q=q,
        start_ms=start_ms,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
