"""Revoke an invitation; its link stops working."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    invitation_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/invitations/{invitation_id}".format(
            invitation_id=quote(str(invitation_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    invitation_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Revoke an invitation; its link stops working."""
    kwargs = _get_kwargs(
        invitation_id=invitation_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    invitation_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Revoke an invitation; its link stops working."""
    kwargs = _get_kwargs(
        invitation_id=invitation_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
