"""Get a question with its answer, evidence, usage, charge and timings as far as there are any."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.get_question_include import GetQuestionInclude
from ...models.question import Question
from ...types import UNSET, Unset


def _get_kwargs(
    question_id: str,
    *,
    include: GetQuestionInclude | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    json_include: str | Unset = UNSET
    if not isinstance(include, Unset):
        json_include = include

    params["include"] = json_include

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/questions/{question_id}".format(
            question_id=quote(str(question_id), safe=""),
        ),
        "params": params,
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
    include: GetQuestionInclude | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Question:
    """Get a question with its answer, evidence, usage, charge and timings as far as there are any."""
    kwargs = _get_kwargs(
        question_id=question_id,
        include=include,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    question_id: str,
    *,
    client: AuthenticatedClient,
    include: GetQuestionInclude | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Question:
    """Get a question with its answer, evidence, usage, charge and timings as far as there are any."""
    kwargs = _get_kwargs(
        question_id=question_id,
        include=include,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
