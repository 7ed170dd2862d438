"""Get a clip, with links to its file, its poster and its captions once it is made."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.clip import Clip
from ...types import UNSET, Unset


def _get_kwargs(
    clip_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/clips/{clip_id}".format(
            clip_id=quote(str(clip_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Clip:
    response_200 = Clip.from_dict(response.json())

    return response_200


def sync(
    clip_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Clip:
    """Get a clip, with links to its file, its poster and its captions once it is made."""
    kwargs = _get_kwargs(
        clip_id=clip_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    clip_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Clip:
    """Get a clip, with links to its file, its poster and its captions once it is made."""
    kwargs = _get_kwargs(
        clip_id=clip_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
