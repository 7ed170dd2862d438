"""Make a clip of a recording: an MP4 of at most ten minutes, with a poster and captions."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.clip import Clip
from ...models.clip_request import ClipRequest
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    body: ClipRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/clips",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Clip:
    response_202 = Clip.from_dict(response.json())

    return response_202


def sync(
    *,
    client: AuthenticatedClient,
    body: ClipRequest,
    idempotency_key: str | Unset = UNSET,
) -> Clip:
    """Make a clip of a recording: an MP4 of at most ten minutes, with a poster and captions."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: ClipRequest,
    idempotency_key: str | Unset = UNSET,
) -> Clip:
    """Make a clip of a recording: an MP4 of at most ten minutes, with a poster and captions."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
