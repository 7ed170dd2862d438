"""Ask a question again that failed or was canceled and is not charged, with the same id."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.question import Question
from ...types import UNSET, Unset


def _get_kwargs(
    question_id: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/questions/{question_id}/retry".format(
            question_id=quote(str(question_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Question:
    response_202 = Question.from_dict(response.json())

    return response_202


def sync(
    question_id: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> Question:
    """Ask a question again that failed or was canceled and is not charged, with the same id."""
    kwargs = _get_kwargs(
        question_id=question_id,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    question_id: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> Question:
    """Ask a question again that failed or was canceled and is not charged, with the same id."""
    kwargs = _get_kwargs(
        question_id=question_id,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
