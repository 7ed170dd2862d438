"""Create a video from an upload, from a URL, or from segments that you append."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.video import Video
from ...models.video_request import VideoRequest
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    body: VideoRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/videos",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Video:
    response_202 = Video.from_dict(response.json())

    return response_202


def sync(
    *,
    client: AuthenticatedClient,
    body: VideoRequest,
    idempotency_key: str | Unset = UNSET,
) -> Video:
    """Create a video from an upload, from a URL, or from segments that you append."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: VideoRequest,
    idempotency_key: str | Unset = UNSET,
) -> Video:
    """Create a video from an upload, from a URL, or from segments that you append."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
