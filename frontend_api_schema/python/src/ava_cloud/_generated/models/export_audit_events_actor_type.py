from typing import Literal

ExportAuditEventsActorType = Literal["api_key", "operator", "person", "staff", "visitor"]

EXPORT_AUDIT_EVENTS_ACTOR_TYPE_VALUES: set[ExportAuditEventsActorType] = {
    "api_key",
    "operator",
    "person",
    "staff",
    "visitor",
}


def check_export_audit_events_actor_type(value: str) -> ExportAuditEventsActorType:
    if value in EXPORT_AUDIT_EVENTS_ACTOR_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXPORT_AUDIT_EVENTS_ACTOR_TYPE_VALUES!r}")
