"""Remove a member."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...types import UNSET, Unset


def _get_kwargs(
    member_id: str,
    *,
    end_made: bool | Unset = False,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["end_made"] = end_made

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/members/{member_id}".format(
            member_id=quote(str(member_id), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    member_id: str,
    *,
    client: AuthenticatedClient,
    end_made: bool | Unset = False,
) -> None:
    """Remove a member."""
    kwargs = _get_kwargs(
        member_id=member_id,
        end_made=end_made,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    member_id: str,
    *,
    client: AuthenticatedClient,
    end_made: bool | Unset = False,
) -> None:
    """Remove a member."""
    kwargs = _get_kwargs(
        member_id=member_id,
        end_made=end_made,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
