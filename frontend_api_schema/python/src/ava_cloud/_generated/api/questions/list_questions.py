"""List questions, newest first; by default the questions of a batch in the batch's order."""

import datetime
from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.list_questions_feedback import ListQuestionsFeedback
from ...models.list_questions_sort import ListQuestionsSort
from ...models.list_questions_status import ListQuestionsStatus
from ...models.question_page import QuestionPage
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    batch_id: str | Unset = UNSET,
    comparison_id: str | Unset = UNSET,
    created_since: datetime.datetime | Unset = UNSET,
    created_until: datetime.datetime | Unset = UNSET,
    cursor: str | Unset = UNSET,
    external_id: str | Unset = UNSET,
    feedback: ListQuestionsFeedback | Unset = UNSET,
    limit: int | Unset = 20,
    metadata: str | Unset = UNSET,
    session_id: str | Unset = UNSET,
    sort: ListQuestionsSort | Unset = UNSET,
    status: ListQuestionsStatus | Unset = UNSET,
    video_id: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["batch_id"] = batch_id

    params["comparison_id"] = comparison_id

    json_created_since: str | Unset = UNSET
    if not isinstance(created_since, Unset):
        json_created_since = created_since.isoformat()
    params["created_since"] = json_created_since

    json_created_until: str | Unset = UNSET
    if not isinstance(created_until, Unset):
        json_created_until = created_until.isoformat()
    params["created_until"] = json_created_until

    params["cursor"] = cursor

    params["external_id"] = external_id

    json_feedback: str | Unset = UNSET
    if not isinstance(feedback, Unset):
        json_feedback = feedback

    params["feedback"] = json_feedback

    params["limit"] = limit

    params["metadata"] = metadata

    params["session_id"] = session_id

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    json_status: str | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = status

    params["status"] = json_status

    params["video_id"] = video_id

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/questions",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> QuestionPage:
    response_200 = QuestionPage.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    batch_id: str | Unset = UNSET,
    comparison_id: str | Unset = UNSET,
    created_since: datetime.datetime | Unset = UNSET,
    created_until: datetime.datetime | Unset = UNSET,
    cursor: str | Unset = UNSET,
    external_id: str | Unset = UNSET,
    feedback: ListQuestionsFeedback | Unset = UNSET,
    limit: int | Unset = 20,
    metadata: str | Unset = UNSET,
    session_id: str | Unset = UNSET,
    sort: ListQuestionsSort | Unset = UNSET,
    status: ListQuestionsStatus | Unset = UNSET,
    video_id: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> QuestionPage:
    """List questions, newest first; by default the questions of a batch in the batch's order."""
    kwargs = _get_kwargs(
        batch_id=batch_id,
        comparison_id=comparison_id,
        created_since=created_since,
        created_until=created_until,
        cursor=cursor,
        external_id=external_id,
        feedback=feedback,
        limit=limit,
        metadata=metadata,
        session_id=session_id,
        sort=sort,
        status=status,
        video_id=video_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    batch_id: str | Unset = UNSET,
    comparison_id: str | Unset = UNSET,
    created_since: datetime.datetime | Unset = UNSET,
    created_until: datetime.datetime | Unset = UNSET,
    cursor: str | Unset = UNSET,
    external_id: str | Unset = UNSET,
    feedback: ListQuestionsFeedback | Unset = UNSET,
    limit: int | Unset = 20,
    metadata: str | Unset = UNSET,
    session_id: str | Unset = UNSET,
    sort: ListQuestionsSort | Unset = UNSET,
    status: ListQuestionsStatus | Unset = UNSET,
    video_id: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> QuestionPage:
    """List questions, newest first; by default the questions of a batch in the batch's order."""
    kwargs = _get_kwargs(
        batch_id=batch_id,
        comparison_id=comparison_id,
        created_since=created_since,
        created_until=created_until,
        cursor=cursor,
        external_id=external_id,
        feedback=feedback,
        limit=limit,
        metadata=metadata,
        session_id=session_id,
        sort=sort,
        status=status,
        video_id=video_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
