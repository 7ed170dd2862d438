"""Get an invoice or a credit note as PDF, in the language and the formats of your country."""

from io import BytesIO
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...types import File


def _get_kwargs(
    invoice_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/invoices/{invoice_id}/pdf".format(
            invoice_id=quote(str(invoice_id), safe=""),
        ),
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> File:
    response_200 = File(payload=BytesIO(response.content))

    return response_200


def sync(
    invoice_id: str,
    *,
    client: AuthenticatedClient,
) -> File:
    """Get an invoice or a credit note as PDF, in the language and the formats of your country."""
    kwargs = _get_kwargs(
        invoice_id=invoice_id,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    invoice_id: str,
    *,
    client: AuthenticatedClient,
) -> File:
    """Get an invoice or a credit note as PDF, in the language and the formats of your country."""
    kwargs = _get_kwargs(
        invoice_id=invoice_id,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
