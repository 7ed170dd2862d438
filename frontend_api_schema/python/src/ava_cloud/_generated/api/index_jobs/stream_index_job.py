"""Stream the progress of an index job."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    job_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/index-jobs/{job_id}/stream".format(
            job_id=quote(str(job_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> str:
    return response.text


def sync(
    job_id: str,
    *,
    client: AuthenticatedClient,
) -> str:
    """Stream the progress of an index job."""
    kwargs = _get_kwargs(
        job_id=job_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    job_id: str,
    *,
    client: AuthenticatedClient,
) -> str:
    """Stream the progress of an index job."""
    kwargs = _get_kwargs(
        job_id=job_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
