"""Get the HLS playlist of a video."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...types import UNSET, Unset


def _get_kwargs(
    video_id: str,
    *,
    end_ms: int | Unset = UNSET,
    start_ms: int | Unset = UNSET,
    token: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["end_ms"] = end_ms

    params["start_ms"] = start_ms

    params["token"] = token

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/videos/{video_id}/hls/index.m3u8".format(
            video_id=quote(str(video_id), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> str:
    return response.text


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient,
    end_ms: int | Unset = UNSET,
    start_ms: int | Unset = UNSET,
    token: str | Unset = UNSET,
) -> str:
    """Get the HLS playlist of a video."""
    kwargs = _get_kwargs(
        video_id=video_id,
        end_ms=end_ms,
        start_ms=start_ms,
        token=token,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient,
    end_ms: int | Unset = UNSET,
    start_ms: int | Unset = UNSET,
    token: str | Unset = UNSET,
) -> str:
    """Get the HLS playlist of a video."""
    kwargs = _get_kwargs(
        video_id=video_id,
        end_ms=end_ms,
        start_ms=start_ms,
        token=token,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
