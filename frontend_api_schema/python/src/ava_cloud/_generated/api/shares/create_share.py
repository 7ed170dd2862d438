"""Make a link that shows one answer, one recording, a span of it, or one clip to whoever has it, until it ends."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.new_shared_link import NewSharedLink
from ...models.share_request import ShareRequest
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    body: ShareRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/shares",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> NewSharedLink:
    response_201 = NewSharedLink.from_dict(response.json())

    return response_201


def sync(
    *,
    client: AuthenticatedClient,
    body: ShareRequest,
    idempotency_key: str | Unset = UNSET,
) -> NewSharedLink:
    """Make a link that shows one answer, one recording, a span of it, or one clip to whoever has it, until it ends."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: ShareRequest,
    idempotency_key: str | Unset = UNSET,
) -> NewSharedLink:
    """Make a link that shows one answer, one recording, a span of it, or one clip to whoever has it, until it ends."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
