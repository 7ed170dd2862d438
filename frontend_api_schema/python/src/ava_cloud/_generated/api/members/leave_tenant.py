"""Leave the tenant that the request names."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    end_made: bool | Unset = False,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["end_made"] = end_made

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/me/membership",
        "params": params,
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    *,
    client: AuthenticatedClient,
    end_made: bool | Unset = False,
) -> None:
    """Leave the tenant that the request names."""
    kwargs = _get_kwargs(
        end_made=end_made,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    end_made: bool | Unset = False,
) -> None:
    """Leave the tenant that the request names."""
    kwargs = _get_kwargs(
        end_made=end_made,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
