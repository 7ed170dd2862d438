"""Return one invitation without its link."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.invitation import Invitation
from ...types import UNSET, Unset


def _get_kwargs(
    invitation_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/invitations/{invitation_id}".format(
            invitation_id=quote(str(invitation_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Invitation:
    response_200 = Invitation.from_dict(response.json())

    return response_200


def sync(
    invitation_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Invitation:
    """Return one invitation without its link."""
    kwargs = _get_kwargs(
        invitation_id=invitation_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    invitation_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Invitation:
    """Return one invitation without its link."""
    kwargs = _get_kwargs(
        invitation_id=invitation_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
