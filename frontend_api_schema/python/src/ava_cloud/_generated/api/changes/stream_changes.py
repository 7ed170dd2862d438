"""Stream what changes in the tenant: kind, id and version of each thing, without its content."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...types import UNSET


def _get_kwargs(
    *,
    topics: str,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["topics"] = topics

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/stream",
        "params": params,
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> str:
    return response.text


def sync(
    *,
    client: AuthenticatedClient,
    topics: str,
) -> str:
    """Stream what changes in the tenant: kind, id and version of each thing, without its content."""
    kwargs = _get_kwargs(
        topics=topics,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    topics: str,
) -> str:
    """Stream what changes in the tenant: kind, id and version of each thing, without its content."""
    kwargs = _get_kwargs(
        topics=topics,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
