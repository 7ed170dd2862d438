"""Change fields of the billing account."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.billing_account import BillingAccount
from ...models.billing_account_request import BillingAccountRequest
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    body: BillingAccountRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/v1/billing-account",
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> BillingAccount:
    response_200 = BillingAccount.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    body: BillingAccountRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> BillingAccount:
    """Change fields of the billing account."""
    kwargs = _get_kwargs(
        body=body,
        if_match=if_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: BillingAccountRequest | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> BillingAccount:
    """Change fields of the billing account."""
    kwargs = _get_kwargs(
        body=body,
        if_match=if_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
