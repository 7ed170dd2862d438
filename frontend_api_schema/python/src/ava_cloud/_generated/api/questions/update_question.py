"""Change the priority or the deadline of an open question."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.question import Question
from ...models.question_update_request import QuestionUpdateRequest
from ...types import UNSET, Unset


def _get_kwargs(
    question_id: str,
    *,
    body: QuestionUpdateRequest | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/v1/questions/{question_id}".format(
            question_id=quote(str(question_id), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Question:
    response_200 = Question.from_dict(response.json())

    return response_200


def sync(
    question_id: str,
    *,
    client: AuthenticatedClient,
    body: QuestionUpdateRequest | Unset = UNSET,
) -> Question:
    """Change the priority or the deadline of an open question."""
    kwargs = _get_kwargs(
        question_id=question_id,
        body=body,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    question_id: str,
    *,
    client: AuthenticatedClient,
    body: QuestionUpdateRequest | Unset = UNSET,
) -> Question:
    """Change the priority or the deadline of an open question."""
    kwargs = _get_kwargs(
        question_id=question_id,
        body=body,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
