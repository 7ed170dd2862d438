"""Set who gets notices by mail: an address, and the roles whose members get them too."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.notice_address import NoticeAddress
from ...models.notice_address_request import NoticeAddressRequest
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    body: NoticeAddressRequest,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/v1/notice-address",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> NoticeAddress:
    response_200 = NoticeAddress.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    body: NoticeAddressRequest,
    if_match: str | Unset = UNSET,
) -> NoticeAddress:
    """Set who gets notices by mail: an address, and the roles whose members get them too."""
    kwargs = _get_kwargs(
        body=body,
        if_match=if_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: NoticeAddressRequest,
    if_match: str | Unset = UNSET,
) -> NoticeAddress:
    """Set who gets notices by mail: an address, and the roles whose members get them too."""
    kwargs = _get_kwargs(
        body=body,
        if_match=if_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
