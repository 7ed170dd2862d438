"""Change a collection."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.collection import Collection
from ...models.collection_update_request import CollectionUpdateRequest
from ...types import UNSET, Unset


def _get_kwargs(
    collection_id: str,
    *,
    body: CollectionUpdateRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/v1/collections/{collection_id}".format(
            collection_id=quote(str(collection_id), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Collection:
    response_200 = Collection.from_dict(response.json())

    return response_200


def sync(
    collection_id: str,
    *,
    client: AuthenticatedClient,
    body: CollectionUpdateRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Collection:
    """Change a collection."""
    kwargs = _get_kwargs(
        collection_id=collection_id,
        body=body,
        if_match=if_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    collection_id: str,
    *,
    client: AuthenticatedClient,
    body: CollectionUpdateRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Collection:
    """Change a collection."""
    kwargs = _get_kwargs(
        collection_id=collection_id,
        body=body,
        if_match=if_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
