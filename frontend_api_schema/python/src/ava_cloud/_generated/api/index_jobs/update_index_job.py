"""Change the priority or the deadline of an index job that is not over."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.index_job import IndexJob
from ...models.index_job_update_request import IndexJobUpdateRequest
from ...types import UNSET, Unset


def _get_kwargs(
    job_id: str,
    *,
    body: IndexJobUpdateRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/v1/index-jobs/{job_id}".format(
            job_id=quote(str(job_id), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> IndexJob:
    response_200 = IndexJob.from_dict(response.json())

    return response_200


def sync(
    job_id: str,
    *,
    client: AuthenticatedClient,
    body: IndexJobUpdateRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> IndexJob:
    """Change the priority or the deadline of an index job that is not over."""
    kwargs = _get_kwargs(
        job_id=job_id,
        body=body,
        if_match=if_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    job_id: str,
    *,
    client: AuthenticatedClient,
    body: IndexJobUpdateRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> IndexJob:
    """Change the priority or the deadline of an index job that is not over."""
    kwargs = _get_kwargs(
        job_id=job_id,
        body=body,
        if_match=if_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
