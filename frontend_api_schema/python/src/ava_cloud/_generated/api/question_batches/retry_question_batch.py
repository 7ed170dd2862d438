"""Ask the questions of a batch again that failed."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.question_batch import QuestionBatch
from ...types import UNSET, Unset


def _get_kwargs(
    batch_id: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/question-batches/{batch_id}/retry".format(
            batch_id=quote(str(batch_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> QuestionBatch:
    response_202 = QuestionBatch.from_dict(response.json())

    return response_202


def sync(
    batch_id: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> QuestionBatch:
    """Ask the questions of a batch again that failed."""
    kwargs = _get_kwargs(
        batch_id=batch_id,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    batch_id: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> QuestionBatch:
    """Ask the questions of a batch again that failed."""
    kwargs = _get_kwargs(
        batch_id=batch_id,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
