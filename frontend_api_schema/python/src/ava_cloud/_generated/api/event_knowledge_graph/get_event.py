"""Return one event, as an answer or a search cites it."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.event import Event
from ...types import UNSET, Unset


def _get_kwargs(
    video_id: str,
    event_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/videos/{video_id}/events/{event_id}".format(
            video_id=quote(str(video_id), safe=""),
            event_id=quote(str(event_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Event:
    response_200 = Event.from_dict(response.json())

    return response_200


def sync(
    video_id: str,
    event_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Event:
    """Return one event, as an answer or a search cites it."""
    kwargs = _get_kwargs(
        video_id=video_id,
        event_id=event_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    video_id: str,
    event_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Event:
    """Return one event, as an answer or a search cites it."""
    kwargs = _get_kwargs(
        video_id=video_id,
        event_id=event_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
