"""Get your feedback on an answer; 404 if there is none."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.feedback import Feedback
from ...types import UNSET, Unset


def _get_kwargs(
    question_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/questions/{question_id}/feedback".format(
            question_id=quote(str(question_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Feedback:
    response_200 = Feedback.from_dict(response.json())

    return response_200


def sync(
    question_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Feedback:
    """Get your feedback on an answer; 404 if there is none."""
    kwargs = _get_kwargs(
        question_id=question_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    question_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> Feedback:
    """Get your feedback on an answer; 404 if there is none."""
    kwargs = _get_kwargs(
        question_id=question_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
