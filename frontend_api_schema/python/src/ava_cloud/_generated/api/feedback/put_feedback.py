"""Record whether an answer was right, and the right answer if it was not; replaces earlier feedback."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.feedback import Feedback
from ...models.feedback_request import FeedbackRequest


def _get_kwargs(
    question_id: str,
    *,
    body: FeedbackRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/v1/questions/{question_id}/feedback".format(
            question_id=quote(str(question_id), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Feedback:
    response_200 = Feedback.from_dict(response.json())

    return response_200


def sync(
    question_id: str,
    *,
    client: AuthenticatedClient,
    body: FeedbackRequest,
) -> Feedback:
    """Record whether an answer was right, and the right answer if it was not; replaces earlier feedback."""
    kwargs = _get_kwargs(
        question_id=question_id,
        body=body,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    question_id: str,
    *,
    client: AuthenticatedClient,
    body: FeedbackRequest,
) -> Feedback:
    """Record whether an answer was right, and the right answer if it was not; replaces earlier feedback."""
    kwargs = _get_kwargs(
        question_id=question_id,
        body=body,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
