"""List the rows of the usage ledger, newest first."""

from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.list_usage_events_billable import ListUsageEventsBillable
from ...models.list_usage_events_meter import ListUsageEventsMeter
from ...models.usage_event_page import UsageEventPage
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    api_key_id: str | Unset = UNSET,
    billable: ListUsageEventsBillable | Unset = UNSET,
    collection_id: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    from_: str | Unset = UNSET,
    limit: int | Unset = 20,
    member_id: str | Unset = UNSET,
    meter: ListUsageEventsMeter | Unset = UNSET,
    method: str | Unset = UNSET,
    model: str | Unset = UNSET,
    question_id: str | Unset = UNSET,
    to: str | Unset = UNSET,
    video_id: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["api_key_id"] = api_key_id

    json_billable: str | Unset = UNSET
    if not isinstance(billable, Unset):
        json_billable = billable

    params["billable"] = json_billable

    params["collection_id"] = collection_id

    params["cursor"] = cursor

    params["from"] = from_

    params["limit"] = limit

    params["member_id"] = member_id

    json_meter: str | Unset = UNSET
    if not isinstance(meter, Unset):
        json_meter = meter

    params["meter"] = json_meter

    params["method"] = method

    params["model"] = model

    params["question_id"] = question_id

    params["to"] = to

    params["video_id"] = video_id

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/usage/events",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> UsageEventPage:
    response_200 = UsageEventPage.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    api_key_id: str | Unset = UNSET,
    billable: ListUsageEventsBillable | Unset = UNSET,
    collection_id: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    from_: str | Unset = UNSET,
    limit: int | Unset = 20,
    member_id: str | Unset = UNSET,
    meter: ListUsageEventsMeter | Unset = UNSET,
    method: str | Unset = UNSET,
    model: str | Unset = UNSET,
    question_id: str | Unset = UNSET,
    to: str | Unset = UNSET,
    video_id: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> UsageEventPage:
    """List the rows of the usage ledger, newest first."""
    kwargs = _get_kwargs(
        api_key_id=api_key_id,
        billable=billable,
        collection_id=collection_id,
        cursor=cursor,
        from_=from_,
        limit=limit,
        member_id=member_id,
        meter=meter,
        method=method,
        model=model,
        question_id=question_id,
        to=to,
        video_id=video_id,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    api_key_id: str | Unset = UNSET,
    billable: ListUsageEventsBillable | Unset = UNSET,
    collection_id: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    from_: str | Unset = UNSET,
    limit: int | Unset = 20,
    member_id: str | Unset = UNSET,
    meter: ListUsageEventsMeter | Unset = UNSET,
    method: str | Unset = UNSET,
    model: str | Unset = UNSET,
    question_id: str | Unset = UNSET,
    to: str | Unset = UNSET,
    video_id: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> UsageEventPage:
    """List the rows of the usage ledger, newest first."""
    kwargs = _get_kwargs(
        api_key_id=api_key_id,
        billable=billable,
        collection_id=collection_id,
        cursor=cursor,
        from_=from_,
        limit=limit,
        member_id=member_id,
        meter=meter,
        method=method,
        model=model,
        question_id=question_id,
        to=to,
        video_id=video_id,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
