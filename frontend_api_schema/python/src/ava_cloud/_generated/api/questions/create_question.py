"""Ask a question."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.create_question_include import CreateQuestionInclude
from ...models.question import Question
from ...models.question_request import QuestionRequest
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    body: QuestionRequest,
    include: CreateQuestionInclude | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
    prefer: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    if not isinstance(prefer, Unset):
        headers["Prefer"] = prefer

    params: dict[str, Any] = {}

    json_include: str | Unset = UNSET
    if not isinstance(include, Unset):
        json_include = include

    params["include"] = json_include

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/questions",
        "params": params,
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Question:
    if response.status_code == 200:
        response_200 = Question.from_dict(response.json())

        return response_200

    response_202 = Question.from_dict(response.json())

    return response_202


def sync(
    *,
    client: AuthenticatedClient,
    body: QuestionRequest,
    include: CreateQuestionInclude | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
    prefer: str | Unset = UNSET,
) -> Question:
    """Ask a question."""
    kwargs = _get_kwargs(
        body=body,
        include=include,
        idempotency_key=idempotency_key,
        prefer=prefer,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: QuestionRequest,
    include: CreateQuestionInclude | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
    prefer: str | Unset = UNSET,
) -> Question:
    """Ask a question."""
    kwargs = _get_kwargs(
        body=body,
        include=include,
        idempotency_key=idempotency_key,
        prefer=prefer,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
