"""List what acts for a member: keys, open invitations, webhook endpoints and shares that have not ended."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.made_things import MadeThings
from ...types import UNSET, Unset


def _get_kwargs(
    member_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/members/{member_id}/made".format(
            member_id=quote(str(member_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> MadeThings:
    response_200 = MadeThings.from_dict(response.json())

    return response_200


def sync(
    member_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> MadeThings:
    """List what acts for a member: keys, open invitations, webhook endpoints and shares that have not ended."""
    kwargs = _get_kwargs(
        member_id=member_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    member_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> MadeThings:
    """List what acts for a member: keys, open invitations, webhook endpoints and shares that have not ended."""
    kwargs = _get_kwargs(
        member_id=member_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
