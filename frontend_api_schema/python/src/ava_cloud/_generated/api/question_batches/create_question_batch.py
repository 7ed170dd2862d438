"""Ask up to 1,000 questions at once."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.question_batch import QuestionBatch
from ...models.question_batch_request import QuestionBatchRequest
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    body: QuestionBatchRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/question-batches",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> QuestionBatch:
    response_202 = QuestionBatch.from_dict(response.json())

    return response_202


def sync(
    *,
    client: AuthenticatedClient,
    body: QuestionBatchRequest,
    idempotency_key: str | Unset = UNSET,
) -> QuestionBatch:
    """Ask up to 1,000 questions at once."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: QuestionBatchRequest,
    idempotency_key: str | Unset = UNSET,
) -> QuestionBatch:
    """Ask up to 1,000 questions at once."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
