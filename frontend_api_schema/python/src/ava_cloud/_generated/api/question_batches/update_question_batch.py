"""Change the priority or the deadline of the open questions of a batch."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.question_batch import QuestionBatch
from ...models.question_update_request import QuestionUpdateRequest
from ...types import UNSET, Unset


def _get_kwargs(
    batch_id: str,
    *,
    body: QuestionUpdateRequest | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/v1/question-batches/{batch_id}".format(
            batch_id=quote(str(batch_id), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> QuestionBatch:
    response_200 = QuestionBatch.from_dict(response.json())

    return response_200


def sync(
    batch_id: str,
    *,
    client: AuthenticatedClient,
    body: QuestionUpdateRequest | Unset = UNSET,
) -> QuestionBatch:
    """Change the priority or the deadline of the open questions of a batch."""
    kwargs = _get_kwargs(
        batch_id=batch_id,
        body=body,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    batch_id: str,
    *,
    client: AuthenticatedClient,
    body: QuestionUpdateRequest | Unset = UNSET,
) -> QuestionBatch:
    """Change the priority or the deadline of the open questions of a batch."""
    kwargs = _get_kwargs(
        batch_id=batch_id,
        body=body,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
