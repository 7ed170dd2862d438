"""Delete a batch with its questions and their answers."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    batch_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/question-batches/{batch_id}".format(
            batch_id=quote(str(batch_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    batch_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Delete a batch with its questions and their answers."""
    kwargs = _get_kwargs(
        batch_id=batch_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    batch_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Delete a batch with its questions and their answers."""
    kwargs = _get_kwargs(
        batch_id=batch_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
