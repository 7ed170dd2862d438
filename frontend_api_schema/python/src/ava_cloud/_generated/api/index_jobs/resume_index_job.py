"""Go on with a paused index job."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.index_job import IndexJob
from ...types import UNSET, Unset


def _get_kwargs(
    job_id: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/index-jobs/{job_id}/resume".format(
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
    idempotency_key: str | Unset = UNSET,
) -> IndexJob:
    """Go on with a paused index job."""
    kwargs = _get_kwargs(
        job_id=job_id,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    job_id: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> IndexJob:
    """Go on with a paused index job."""
    kwargs = _get_kwargs(
        job_id=job_id,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
