"""Estimate the charge and the duration of indexing a recording."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.estimate import Estimate
from ...models.video_estimate_request import VideoEstimateRequest
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    body: VideoEstimateRequest | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/videos:estimate",
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Estimate:
    response_200 = Estimate.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    body: VideoEstimateRequest | Unset = UNSET,
) -> Estimate:
    """Estimate the charge and the duration of indexing a recording."""
    kwargs = _get_kwargs(
        body=body,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: VideoEstimateRequest | Unset = UNSET,
) -> Estimate:
    """Estimate the charge and the duration of indexing a recording."""
    kwargs = _get_kwargs(
        body=body,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
