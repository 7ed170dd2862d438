"""Get the lines of an invoice or a credit note as CSV."""

from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient


def _get_kwargs(
    invoice_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/invoices/{invoice_id}/csv".format(
            invoice_id=quote(str(invoice_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> str:
    return response.text


def sync(
    invoice_id: str,
    *,
    client: AuthenticatedClient,
) -> str:
    """Get the lines of an invoice or a credit note as CSV."""
    kwargs = _get_kwargs(
        invoice_id=invoice_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    invoice_id: str,
    *,
    client: AuthenticatedClient,
) -> str:
    """Get the lines of an invoice or a credit note as CSV."""
    kwargs = _get_kwargs(
        invoice_id=invoice_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
