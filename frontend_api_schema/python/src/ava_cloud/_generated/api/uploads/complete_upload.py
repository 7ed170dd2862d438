"""Complete an upload: it becomes a video, and indexing begins."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.upload_completion_request import UploadCompletionRequest
from ...models.video import Video
from ...types import UNSET, Unset


def _get_kwargs(
    upload_id: str,
    *,
    body: UploadCompletionRequest | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/uploads/{upload_id}/complete".format(
            upload_id=quote(str(upload_id), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Video:
    response_202 = Video.from_dict(response.json())

    return response_202


def sync(
    upload_id: str,
    *,
    client: AuthenticatedClient,
    body: UploadCompletionRequest | Unset = UNSET,
) -> Video:
    """Complete an upload: it becomes a video, and indexing begins."""
    kwargs = _get_kwargs(
        upload_id=upload_id,
        body=body,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    upload_id: str,
    *,
    client: AuthenticatedClient,
    body: UploadCompletionRequest | Unset = UNSET,
) -> Video:
    """Complete an upload: it becomes a video, and indexing begins."""
    kwargs = _get_kwargs(
        upload_id=upload_id,
        body=body,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
