"""Change the role or the collections of a member."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.member import Member
from ...models.member_update_request import MemberUpdateRequest
from ...types import UNSET, Unset


def _get_kwargs(
    member_id: str,
    *,
    body: MemberUpdateRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/v1/members/{member_id}".format(
            member_id=quote(str(member_id), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Member:
    response_200 = Member.from_dict(response.json())

    return response_200


def sync(
    member_id: str,
    *,
    client: AuthenticatedClient,
    body: MemberUpdateRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Member:
    """Change the role or the collections of a member."""
    kwargs = _get_kwargs(
        member_id=member_id,
        body=body,
        if_match=if_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    member_id: str,
    *,
    client: AuthenticatedClient,
    body: MemberUpdateRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Member:
    """Change the role or the collections of a member."""
    kwargs = _get_kwargs(
        member_id=member_id,
        body=body,
        if_match=if_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
