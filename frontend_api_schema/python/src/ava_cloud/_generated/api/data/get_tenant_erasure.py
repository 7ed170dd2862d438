"""Get how far the erasure of a tenant is, and its certificate."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.tenant_erasure import TenantErasure


def _get_kwargs() -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenant/erasure",
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> TenantErasure:
    response_200 = TenantErasure.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
) -> TenantErasure:
    """Get how far the erasure of a tenant is, and its certificate."""
    kwargs = _get_kwargs()
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
) -> TenantErasure:
    """Get how far the erasure of a tenant is, and its certificate."""
    kwargs = _get_kwargs()
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
