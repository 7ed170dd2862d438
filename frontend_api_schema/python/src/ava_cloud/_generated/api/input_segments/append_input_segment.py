"""Append the next segment of a recording, from an upload or from a URL."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.input_segment import InputSegment
from ...models.input_segment_request import InputSegmentRequest
from ...types import UNSET, Unset


def _get_kwargs(
    video_id: str,
    *,
    body: InputSegmentRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/videos/{video_id}/segments".format(
            video_id=quote(str(video_id), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> InputSegment:
    response_202 = InputSegment.from_dict(response.json())

    return response_202


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient,
    body: InputSegmentRequest,
    idempotency_key: str | Unset = UNSET,
) -> InputSegment:
    """Append the next segment of a recording, from an upload or from a URL."""
    kwargs = _get_kwargs(
        video_id=video_id,
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient,
    body: InputSegmentRequest,
    idempotency_key: str | Unset = UNSET,
) -> InputSegment:
    """Append the next segment of a recording, from an upload or from a URL."""
    kwargs = _get_kwargs(
        video_id=video_id,
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
