"""Abort an open upload and drop its parts; delete an upload that has ended, with its file name and metadata."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    upload_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/uploads/{upload_id}".format(
            upload_id=quote(str(upload_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    upload_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Abort an open upload and drop its parts; delete an upload that has ended, with its file name and metadata."""
    kwargs = _get_kwargs(
        upload_id=upload_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    upload_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Abort an open upload and drop its parts; delete an upload that has ended, with its file name and metadata."""
    kwargs = _get_kwargs(
        upload_id=upload_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
