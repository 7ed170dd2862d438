"""Get an answer as a report: claims, evidence with pictures and times, scope, method, cost and what is missing."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.get_question_report_format import GetQuestionReportFormat
from ...types import UNSET, Unset


def _get_kwargs(
    question_id: str,
    *,
    format_: GetQuestionReportFormat | Unset = "html",
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_format_: str | Unset = UNSET
    if not isinstance(format_, Unset):
        json_format_ = format_

    params["format"] = json_format_

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/questions/{question_id}/report".format(
            question_id=quote(str(question_id), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> str:
    return response.text


def sync(
    question_id: str,
    *,
    client: AuthenticatedClient,
    format_: GetQuestionReportFormat | Unset = "html",
) -> str:
    """Get an answer as a report: claims, evidence with pictures and times, scope, method, cost and what is missing."""
    kwargs = _get_kwargs(
        question_id=question_id,
        format_=format_,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    question_id: str,
    *,
    client: AuthenticatedClient,
    format_: GetQuestionReportFormat | Unset = "html",
) -> str:
    """Get an answer as a report: claims, evidence with pictures and times, scope, method, cost and what is missing."""
    kwargs = _get_kwargs(
        question_id=question_id,
        format_=format_,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
