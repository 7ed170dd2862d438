"""Return one share without its link."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.shared_link import SharedLink
from ...types import UNSET, Unset


def _get_kwargs(
    share_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/shares/{share_id}".format(
            share_id=quote(str(share_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> SharedLink:
    response_200 = SharedLink.from_dict(response.json())

    return response_200


def sync(
    share_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> SharedLink:
    """Return one share without its link."""
    kwargs = _get_kwargs(
        share_id=share_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    share_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> SharedLink:
    """Return one share without its link."""
    kwargs = _get_kwargs(
        share_id=share_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
