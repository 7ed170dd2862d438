"""Do again what failed in an index, in place."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.index_job import IndexJob
from ...models.index_job_retry_request import IndexJobRetryRequest
from ...types import UNSET, Unset


def _get_kwargs(
    job_id: str,
    *,
    body: IndexJobRetryRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/index-jobs/{job_id}/retry".format(
            job_id=quote(str(job_id), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> IndexJob:
    response_202 = IndexJob.from_dict(response.json())

    return response_202


def sync(
    job_id: str,
    *,
    client: AuthenticatedClient,
    body: IndexJobRetryRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> IndexJob:
    """Do again what failed in an index, in place."""
    kwargs = _get_kwargs(
        job_id=job_id,
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    job_id: str,
    *,
    client: AuthenticatedClient,
    body: IndexJobRetryRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> IndexJob:
    """Do again what failed in an index, in place."""
    kwargs = _get_kwargs(
        job_id=job_id,
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
