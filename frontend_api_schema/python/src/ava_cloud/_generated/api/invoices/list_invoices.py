"""List invoices and credit notes, newest first."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.invoice_page import InvoicePage
from ...models.list_invoices_kind import ListInvoicesKind
from ...models.list_invoices_state import ListInvoicesState
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    cursor: str | Unset = UNSET,
    kind: ListInvoicesKind | Unset = UNSET,
    limit: int | Unset = 20,
    state: ListInvoicesState | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    json_kind: str | Unset = UNSET
    if not isinstance(kind, Unset):
        json_kind = kind

    params["kind"] = json_kind

    params["limit"] = limit

    json_state: str | Unset = UNSET
    if not isinstance(state, Unset):
        json_state = state

    params["state"] = json_state

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/invoices",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> InvoicePage:
    response_200 = InvoicePage.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    kind: ListInvoicesKind | Unset = UNSET,
    limit: int | Unset = 20,
    state: ListInvoicesState | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> InvoicePage:
    """List invoices and credit notes, newest first."""
    kwargs = _get_kwargs(
        cursor=cursor,
        kind=kind,
        limit=limit,
        state=state,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    kind: ListInvoicesKind | Unset = UNSET,
    limit: int | Unset = 20,
    state: ListInvoicesState | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> InvoicePage:
    """List invoices and credit notes, newest first."""
    kwargs = _get_kwargs(
        cursor=cursor,
        kind=kind,
        limit=limit,
        state=state,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
