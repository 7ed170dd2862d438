"""Get how long recordings, pictures, indexes and questions are kept."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.retention import Retention
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/retention",
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Retention:
    response_200 = Retention.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Retention:
    """Get how long recordings, pictures, indexes and questions are kept."""
    kwargs = _get_kwargs(
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Retention:
    """Get how long recordings, pictures, indexes and questions are kept."""
    kwargs = _get_kwargs(
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
