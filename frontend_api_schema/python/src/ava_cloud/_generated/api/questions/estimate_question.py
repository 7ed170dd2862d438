"""Estimate the charge and the duration of a question."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.question_estimate import QuestionEstimate
from ...models.question_estimate_request import QuestionEstimateRequest
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    body: QuestionEstimateRequest | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/questions:estimate",
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> QuestionEstimate:
    response_200 = QuestionEstimate.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    body: QuestionEstimateRequest | Unset = UNSET,
) -> QuestionEstimate:
    """Estimate the charge and the duration of a question."""
    kwargs = _get_kwargs(
        body=body,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: QuestionEstimateRequest | Unset = UNSET,
) -> QuestionEstimate:
    """Estimate the charge and the duration of a question."""
    kwargs = _get_kwargs(
        body=body,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
