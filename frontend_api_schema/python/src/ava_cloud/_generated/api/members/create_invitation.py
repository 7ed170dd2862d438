"""Invite the holder of an e-mail address for 7 days."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.invitation_request import InvitationRequest
from ...models.invitation_with_link import InvitationWithLink
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    body: InvitationRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/invitations",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> InvitationWithLink:
    response_201 = InvitationWithLink.from_dict(response.json())

    return response_201


def sync(
    *,
    client: AuthenticatedClient,
    body: InvitationRequest,
    idempotency_key: str | Unset = UNSET,
) -> InvitationWithLink:
    """Invite the holder of an e-mail address for 7 days."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: InvitationRequest,
    idempotency_key: str | Unset = UNSET,
) -> InvitationWithLink:
    """Invite the holder of an e-mail address for 7 days."""
    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
