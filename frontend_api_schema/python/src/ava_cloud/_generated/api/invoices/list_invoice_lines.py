"""List the lines of an invoice or a credit note, in the order in which they are printed."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...models.invoice_line_page import InvoiceLinePage
from ...types import UNSET, Unset


def _get_kwargs(
    invoice_id: str,
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["limit"] = limit

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/invoices/{invoice_id}/lines".format(
            invoice_id=quote(str(invoice_id), safe=""),
        ),
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> InvoiceLinePage:
    response_200 = InvoiceLinePage.from_dict(response.json())

    return response_200


def sync(
    invoice_id: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    if_none_match: str | Unset = UNSET,
) -> InvoiceLinePage:
    """List the lines of an invoice or a credit note, in the order in which they are printed."""
    kwargs = _get_kwargs(
        invoice_id=invoice_id,
        cursor=cursor,
        limit=limit,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    invoice_id: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    if_none_match: str | Unset = UNSET,
) -> InvoiceLinePage:
    """List the lines of an invoice or a credit note, in the order in which they are printed."""
    kwargs = _get_kwargs(
        invoice_id=invoice_id,
        cursor=cursor,
        limit=limit,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
