"""Create presigned URLs for up to 100 parts, valid for an hour."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.part_urls import PartUrls
from ...models.part_urls_request import PartUrlsRequest


def _get_kwargs(
    upload_id: str,
    *,
    body: PartUrlsRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/uploads/{upload_id}/part-urls".format(
            upload_id=quote(str(upload_id), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> PartUrls:
    response_200 = PartUrls.from_dict(response.json())

    return response_200


def sync(
    upload_id: str,
    *,
    client: AuthenticatedClient,
    body: PartUrlsRequest,
) -> PartUrls:
    """Create presigned URLs for up to 100 parts, valid for an hour."""
    kwargs = _get_kwargs(
        upload_id=upload_id,
        body=body,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    upload_id: str,
    *,
    client: AuthenticatedClient,
    body: PartUrlsRequest,
) -> PartUrls:
    """Create presigned URLs for up to 100 parts, valid for an hour."""
    kwargs = _get_kwargs(
        upload_id=upload_id,
        body=body,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
