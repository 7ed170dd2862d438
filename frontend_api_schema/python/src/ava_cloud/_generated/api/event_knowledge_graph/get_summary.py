"""Return a summary of the whole video: consecutive topics, and an overview of them."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.summary import Summary
from ...types import UNSET, Unset


def _get_kwargs(
    video_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/videos/{video_id}/summary".format(
            video_id=quote(str(video_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Summary:
    response_200 = Summary.from_dict(response.json())

    return response_200


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Summary:
    """Return a summary of the whole video: consecutive topics, and an overview of them."""
    kwargs = _get_kwargs(
        video_id=video_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Summary:
    """Return a summary of the whole video: consecutive topics, and an overview of them."""
    kwargs = _get_kwargs(
        video_id=video_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
