"""Erase the tenant with everything that it has: recordings, indexes, questions, usage, keys and members."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.tenant_erasure_begun import TenantErasureBegun
from ...models.tenant_erasure_request import TenantErasureRequest


def _get_kwargs(
    *,
    body: TenantErasureRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/tenant",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> TenantErasureBegun:
    response_202 = TenantErasureBegun.from_dict(response.json())

    return response_202


def sync(
    *,
    client: AuthenticatedClient,
    body: TenantErasureRequest,
) -> TenantErasureBegun:
    """Erase the tenant with everything that it has: recordings, indexes, questions, usage, keys and members."""
    kwargs = _get_kwargs(
        body=body,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: TenantErasureRequest,
) -> TenantErasureBegun:
    """Erase the tenant with everything that it has: recordings, indexes, questions, usage, keys and members."""
    kwargs = _get_kwargs(
        body=body,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
