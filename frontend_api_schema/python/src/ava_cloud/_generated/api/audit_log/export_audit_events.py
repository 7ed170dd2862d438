"""Export the audit log as one file, oldest first."""

import datetime
from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.export_audit_events_actor_type import ExportAuditEventsActorType
from ...models.export_audit_events_file_type import ExportAuditEventsFileType
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    action: str | Unset = UNSET,
    actor_type: ExportAuditEventsActorType | Unset = UNSET,
    file_type: ExportAuditEventsFileType | Unset = "jsonl",
    resource_id: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["action"] = action

    json_actor_type: str | Unset = UNSET
    if not isinstance(actor_type, Unset):
        json_actor_type = actor_type

    params["actor_type"] = json_actor_type

    json_file_type: str | Unset = UNSET
    if not isinstance(file_type, Unset):
        json_file_type = file_type

    params["file_type"] = json_file_type

    params["resource_id"] = resource_id

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    json_until: str | Unset = UNSET
    if not isinstance(until, Unset):
        json_until = until.isoformat()
    params["until"] = json_until

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/audit-events/export",
        "params": params,
    }
    return _kwargs


def _parse_response(response: httpx.Response) -> str:
    return response.text


def sync(
    *,
    client: AuthenticatedClient,
    action: str | Unset = UNSET,
    actor_type: ExportAuditEventsActorType | Unset = UNSET,
    file_type: ExportAuditEventsFileType | Unset = "jsonl",
    resource_id: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
) -> str:
    """Export the audit log as one file, oldest first."""
    kwargs = _get_kwargs(
        action=action,
        actor_type=actor_type,
        file_type=file_type,
        resource_id=resource_id,
        since=since,
        until=until,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    action: str | Unset = UNSET,
    actor_type: ExportAuditEventsActorType | Unset = UNSET,
    file_type: ExportAuditEventsFileType | Unset = "jsonl",
    resource_id: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
) -> str:
    """Export the audit log as one file, oldest first."""
    kwargs = _get_kwargs(
        action=action,
        actor_type=actor_type,
        file_type=file_type,
        resource_id=resource_id,
        since=since,
        until=until,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
