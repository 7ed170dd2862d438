"""Get a batch: the number of its questions by status, and what they consumed and are charged so far."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.question_batch import QuestionBatch
from ...types import UNSET, Unset


def _get_kwargs(
    batch_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/question-batches/{batch_id}".format(
            batch_id=quote(str(batch_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> QuestionBatch:
    response_200 = QuestionBatch.from_dict(response.json())

    return response_200


def sync(
    batch_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> QuestionBatch:
    """Get a batch: the number of its questions by status, and what they consumed and are charged so far."""
    kwargs = _get_kwargs(
        batch_id=batch_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    batch_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> QuestionBatch:
    """Get a batch: the number of its questions by status, and what they consumed and are charged so far."""
    kwargs = _get_kwargs(
        batch_id=batch_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
