"""Cancel an open question."""

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
        "url": "/v1/questions/{question_id}/cancel".format(
            question_id=quote(str(question_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Question:
    response_200 = Question.from_dict(response.json())

    return response_200


def sync(
    question_id: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> Question:
    """Cancel an open question."""
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
    """Cancel an open question."""
    kwargs = _get_kwargs(
        question_id=question_id,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
