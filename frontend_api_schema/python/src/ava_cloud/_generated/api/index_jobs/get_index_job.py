"""Return the status, stage, progress and time left of one index job."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.index_job import IndexJob
from ...types import UNSET, Unset


def _get_kwargs(
    job_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/index-jobs/{job_id}".format(
            job_id=quote(str(job_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> IndexJob:
    response_200 = IndexJob.from_dict(response.json())

    return response_200


def sync(
    job_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> IndexJob:
    """Return the status, stage, progress and time left of one index job."""
    kwargs = _get_kwargs(
        job_id=job_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    job_id: str,
    *,
    client: AuthenticatedClient,
    if_none_match: str | Unset = UNSET,
) -> IndexJob:
    """Return the status, stage, progress and time left of one index job."""
    kwargs = _get_kwargs(
        job_id=job_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
