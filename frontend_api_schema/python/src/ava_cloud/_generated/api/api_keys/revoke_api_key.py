"""Revoke an API key."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...types import UNSET, Unset


def _get_kwargs(
    key_id: str,
    *,
    descendants: bool | Unset = False,
    end_made: bool | Unset = False,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["descendants"] = descendants

    params["end_made"] = end_made

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/api-keys/{key_id}".format(
            key_id=quote(str(key_id), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    key_id: str,
    *,
    client: AuthenticatedClient,
    descendants: bool | Unset = False,
    end_made: bool | Unset = False,
) -> None:
    """Revoke an API key."""
    kwargs = _get_kwargs(
        key_id=key_id,
        descendants=descendants,
        end_made=end_made,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    key_id: str,
    *,
    client: AuthenticatedClient,
    descendants: bool | Unset = False,
    end_made: bool | Unset = False,
) -> None:
    """Revoke an API key."""
    kwargs = _get_kwargs(
        key_id=key_id,
        descendants=descendants,
        end_made=end_made,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
