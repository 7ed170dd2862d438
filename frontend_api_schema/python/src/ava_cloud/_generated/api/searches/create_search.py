"""Search for the events nearest to a query."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.search import Search
from ...models.search_request import SearchRequest
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    body: SearchRequest,
    idempotency_key: str | Unset = UNSET,
    prefer: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    if not isinstance(prefer, Unset):
        headers["Prefer"] = prefer

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/search",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Search:
    if response.status_code == 200:
        response_200 = Search.from_dict(response.json())

        return response_200

    response_202 = Search.from_dict(response.json())

    return response_202


def sync(
    *,
    client: AuthenticatedClient,
    body: SearchRequest,
    idempotency_key: str | Unset = UNSET,
    prefer: str | Unset = UNSET,
) -> Search:
    """Search for the events nearest to a query."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
        prefer=prefer,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: SearchRequest,
    idempotency_key: str | Unset = UNSET,
    prefer: str | Unset = UNSET,
) -> Search:
    """Search for the events nearest to a query."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
        prefer=prefer,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
