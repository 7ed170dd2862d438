"""Compare arms on your own questions."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.comparison import Comparison
from ...models.comparison_request import ComparisonRequest
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    body: ComparisonRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/comparisons",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Comparison:
    response_202 = Comparison.from_dict(response.json())

    return response_202


def sync(
    *,
    client: AuthenticatedClient,
    body: ComparisonRequest,
    idempotency_key: str | Unset = UNSET,
) -> Comparison:
    """Compare arms on your own questions."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: ComparisonRequest,
    idempotency_key: str | Unset = UNSET,
) -> Comparison:
    """Compare arms on your own questions."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
