"""Get one credit, with what is left of it."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.credit import Credit
from ...types import UNSET, Unset


def _get_kwargs(
    credit_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/credits/{credit_id}".format(
            credit_id=quote(str(credit_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Credit:
    response_200 = Credit.from_dict(response.json())

    return response_200


def sync(
    credit_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Credit:
    """Get one credit, with what is left of it."""
    kwargs = _get_kwargs(
        credit_id=credit_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    credit_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Credit:
    """Get one credit, with what is left of it."""
    kwargs = _get_kwargs(
        credit_id=credit_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
