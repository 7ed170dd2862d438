"""Return one upload with the parts that have arrived, so that you can resume it."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.upload import Upload
from ...types import UNSET, Unset


def _get_kwargs(
    upload_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/uploads/{upload_id}".format(
            upload_id=quote(str(upload_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Upload:
    response_200 = Upload.from_dict(response.json())

    return response_200


def sync(
    upload_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Upload:
    """Return one upload with the parts that have arrived, so that you can resume it."""
    kwargs = _get_kwargs(
        upload_id=upload_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    upload_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Upload:
    """Return one upload with the parts that have arrived, so that you can resume it."""
    kwargs = _get_kwargs(
        upload_id=upload_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
