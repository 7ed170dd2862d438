"""Index a video again with the current models and instructions."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.video import Video
from ...types import UNSET, Unset


def _get_kwargs(
    video_id: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/videos/{video_id}/reindex".format(
            video_id=quote(str(video_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Video:
    response_202 = Video.from_dict(response.json())

    return response_202


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> Video:
    """Index a video again with the current models and instructions."""
    kwargs = _get_kwargs(
        video_id=video_id,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> Video:
    """Index a video again with the current models and instructions."""
    kwargs = _get_kwargs(
        video_id=video_id,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
