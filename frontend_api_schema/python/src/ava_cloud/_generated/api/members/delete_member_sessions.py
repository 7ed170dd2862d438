"""End the sessions of a member in this tenant; the membership stays."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    member_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/members/{member_id}/sessions".format(
            member_id=quote(str(member_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    member_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """End the sessions of a member in this tenant; the membership stays."""
    kwargs = _get_kwargs(
        member_id=member_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    member_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """End the sessions of a member in this tenant; the membership stays."""
    kwargs = _get_kwargs(
        member_id=member_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
