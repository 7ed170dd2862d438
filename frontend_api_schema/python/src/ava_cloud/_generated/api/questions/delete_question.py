"""Delete a question with its answer, evidence and pictures."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    question_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/questions/{question_id}".format(
            question_id=quote(str(question_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> None:
    return None


def sync(
    question_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Delete a question with its answer, evidence and pictures."""
    kwargs = _get_kwargs(
        question_id=question_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    question_id: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """Delete a question with its answer, evidence and pictures."""
    kwargs = _get_kwargs(
        question_id=question_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
