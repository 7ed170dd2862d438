"""List webhook deliveries, newest first."""

import datetime
from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.list_webhook_deliveries_event_type import (
    ListWebhookDeliveriesEventType,
)
from ...models.list_webhook_deliveries_sort import ListWebhookDeliveriesSort
from ...models.list_webhook_deliveries_state import ListWebhookDeliveriesState
from ...models.webhook_delivery_page import WebhookDeliveryPage
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    created_since: datetime.datetime | Unset = UNSET,
    created_until: datetime.datetime | Unset = UNSET,
    cursor: str | Unset = UNSET,
    endpoint_id: str | Unset = UNSET,
    event_type: ListWebhookDeliveriesEventType | Unset = UNSET,
    limit: int | Unset = 20,
    sort: ListWebhookDeliveriesSort | Unset = UNSET,
    state: ListWebhookDeliveriesState | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    json_created_since: str | Unset = UNSET
    if not isinstance(created_since, Unset):
        json_created_since = created_since.isoformat()
    params["created_since"] = json_created_since

    json_created_until: str | Unset = UNSET
    if not isinstance(created_until, Unset):
        json_created_until = created_until.isoformat()
    params["created_until"] = json_created_until

    params["cursor"] = cursor

    params["endpoint_id"] = endpoint_id

    json_event_type: str | Unset = UNSET
    if not isinstance(event_type, Unset):
        json_event_type = event_type

    params["event_type"] = json_event_type

    params["limit"] = limit

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    json_state: str | Unset = UNSET
    if not isinstance(state, Unset):
        json_state = state

    params["state"] = json_state

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/webhook-deliveries",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> WebhookDeliveryPage:
    response_200 = WebhookDeliveryPage.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    created_since: datetime.datetime | Unset = UNSET,
    created_until: datetime.datetime | Unset = UNSET,
    cursor: str | Unset = UNSET,
    endpoint_id: str | Unset = UNSET,
    event_type: ListWebhookDeliveriesEventType | Unset = UNSET,
    limit: int | Unset = 20,
    sort: ListWebhookDeliveriesSort | Unset = UNSET,
    state: ListWebhookDeliveriesState | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> WebhookDeliveryPage:
    """List webhook deliveries, newest first."""
    kwargs = _get_kwargs(
        created_since=created_since,
        created_until=created_until,
        cursor=cursor,
        endpoint_id=endpoint_id,
        event_type=event_type,
        limit=limit,
        sort=sort,
        state=state,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    created_since: datetime.datetime | Unset = UNSET,
    created_until: datetime.datetime | Unset = UNSET,
    cursor: str | Unset = UNSET,
    endpoint_id: str | Unset = UNSET,
    event_type: ListWebhookDeliveriesEventType | Unset = UNSET,
    limit: int | Unset = 20,
    sort: ListWebhookDeliveriesSort | Unset = UNSET,
    state: ListWebhookDeliveriesState | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> WebhookDeliveryPage:
    """List webhook deliveries, newest first."""
    kwargs = _get_kwargs(
        created_since=created_since,
        created_until=created_until,
        cursor=cursor,
        endpoint_id=endpoint_id,
        event_type=event_type,
        limit=limit,
        sort=sort,
        state=state,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
