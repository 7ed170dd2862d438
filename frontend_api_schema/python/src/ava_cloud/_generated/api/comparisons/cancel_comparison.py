"""Cancel the open questions of a comparison, or its grading."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.comparison import Comparison
from ...types import UNSET, Unset


def _get_kwargs(
    comparison_id: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/comparisons/{comparison_id}/cancel".format(
            comparison_id=quote(str(comparison_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> Comparison:
    response_200 = Comparison.from_dict(response.json())

    return response_200


def sync(
    comparison_id: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> Comparison:
    """Cancel the open questions of a comparison, or its grading."""
    kwargs = _get_kwargs(
        comparison_id=comparison_id,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    comparison_id: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> Comparison:
    """Cancel the open questions of a comparison, or its grading."""
    kwargs = _get_kwargs(
        comparison_id=comparison_id,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
