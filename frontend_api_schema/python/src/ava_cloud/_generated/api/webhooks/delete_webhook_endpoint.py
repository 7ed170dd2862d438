"""Delete a webhook endpoint with its deliveries."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    endpoint_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/webhook-endpoints/{endpoint_id}".format(
            endpoint_id=quote(str(endpoint_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    endpoint_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Delete a webhook endpoint with its deliveries."""
    kwargs = _get_kwargs(
        endpoint_id=endpoint_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    endpoint_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Delete a webhook endpoint with its deliveries."""
    kwargs = _get_kwargs(
        endpoint_id=endpoint_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
