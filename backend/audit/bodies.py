"""The audit log on the wire."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from rest_framework import serializers
from rest_framework.utils.encoders import JSONEncoder

from backend.api.bodies import StrictSerializer
from backend.api.public_ids import PublicIdField, encode
from backend.audit.models import ActorKind, AuditEvent

STAFF_NAME = "AVA Cloud staff"
COLUMNS = (
    "id", "occurred_at", "action", "actor_type", "actor_id", "actor_name", "resource_id", "reason", "address",
    "request_id", "details",
)  # fmt: skip
FILE_TYPES = ("jsonl", "csv")
MEDIA_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
# A spreadsheet reads a cell that begins with one of these as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class AuditEventQuerySerializer(StrictSerializer):
    action = serializers.CharField(
        max_length=64, required=False, help_text="Only this action, such as `api_key.created`."
    )
    actor_type = serializers.ChoiceField(
        ActorKind.choices,
        required=False,
        help_text="Only acts of keys, of persons, of our staff, of the operator, or of visitors of a share.",
    )
    resource_id = serializers.CharField(max_length=64, required=False, help_text="Only events of this resource.")
    since = serializers.DateTimeField(required=False, help_text="Only events at this time or later.")
    until = serializers.DateTimeField(required=False, help_text="Only events before this time.")


class AuditExportQuerySerializer(AuditEventQuerySerializer):
    file_type = serializers.ChoiceField(
        FILE_TYPES, default="jsonl", help_text="`jsonl`: one event a line, as in the list. `csv`: a table with a head."
    )


class AuditActorSerializer(serializers.Serializer[Any]):
    type = serializers.ChoiceField(ActorKind.choices)
    id = serializers.CharField(
        allow_null=True, help_text="The key (`key_…`) or the person; null for our staff and for visitors."
    )
    name = serializers.CharField(allow_blank=True, help_text="Name of the key, or address of the person.")


class AuditEventSerializer(serializers.Serializer[Any]):
    id = PublicIdField("aud")
    object = serializers.CharField()
    occurred_at = serializers.DateTimeField()
    action = serializers.CharField(help_text="What was done: a kind of resource and a verb.")
    actor = AuditActorSerializer()
    resource_id = serializers.CharField(allow_null=True, help_text="What was changed or opened.")
    reason = serializers.CharField(allow_blank=True, help_text="Reason that our staff stated.")
    address = serializers.CharField(allow_null=True, help_text="Address that the request came from.")
    request_id = serializers.CharField(allow_blank=True)
    details = serializers.DictField(help_text="More about the act; its fields depend on the action.")


def audit_event_body(event: AuditEvent) -> dict[str, Any]:
    """Return an event as the tenant sees it, without names of our staff."""
    return AuditEventSerializer(
        {
            "id": event.id,
            "object": "audit_event",
            "occurred_at": event.occurred_at,
            "action": event.action,
            "actor": {"type": event.actor_kind, "id": _actor_id(event), "name": _actor_name(event)},
            "resource_id": event.object_id or None,
            "reason": event.reason,
            "address": None if _is_ours(event) else event.address,
            "request_id": event.request_id,
            "details": event.details,
        }
    ).data


def lines(events: Sequence[AuditEvent]) -> bytes:
    """Return one JSON object a line."""
    bodies = (json.dumps(audit_event_body(event), cls=JSONEncoder, separators=(",", ":")) for event in events)
    return "".join(f"{body}\n" for body in bodies).encode()


def table(events: Sequence[AuditEvent], *, head: bool) -> bytes:
    """Return rows of CSV (RFC 4180), with the names of the columns first if head is set."""
    out = io.StringIO()
    writer = csv.writer(out)
    if head:
        writer.writerow(COLUMNS)
    for event in events:
        body = audit_event_body(event)
        actor = body["actor"]
        cells = {
            **body,
            "actor_type": actor["type"],
            "actor_id": actor["id"] or "",
            "actor_name": actor["name"],
            "resource_id": body["resource_id"] or "",
            "address": body["address"] or "",
            "details": json.dumps(body["details"], sort_keys=True),
        }
        writer.writerow([_cell(str(cells[name])) for name in COLUMNS])
    return out.getvalue().encode()


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _is_ours(event: AuditEvent) -> bool:
    return event.actor_kind in (ActorKind.STAFF, ActorKind.OPERATOR)


def _actor_id(event: AuditEvent) -> str | None:
    if event.actor_id is None or _is_ours(event):
        return None
    return encode("key" if event.actor_kind == ActorKind.API_KEY else "per", event.actor_id)


def _actor_name(event: AuditEvent) -> str:
    return STAFF_NAME if _is_ours(event) else event.actor_name
