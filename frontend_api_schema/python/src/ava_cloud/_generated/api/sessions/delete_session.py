"""Delete a session with its questions and their answers."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    session_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/sessions/{session_id}".format(
            session_id=quote(str(session_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    session_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Delete a session with its questions and their answers."""
    kwargs = _get_kwargs(
        session_id=session_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    session_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Delete a session with its questions and their answers."""
    kwargs = _get_kwargs(
        session_id=session_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
