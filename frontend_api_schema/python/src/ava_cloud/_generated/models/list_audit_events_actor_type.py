from typing import Literal

ListAuditEventsActorType = Literal["api_key", "operator", "person", "staff", "visitor"]

LIST_AUDIT_EVENTS_ACTOR_TYPE_VALUES: set[ListAuditEventsActorType] = {
    "api_key",
    "operator",
    "person",
    "staff",
    "visitor",
}


def check_list_audit_events_actor_type(value: str) -> ListAuditEventsActorType:
    if value in LIST_AUDIT_EVENTS_ACTOR_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_AUDIT_EVENTS_ACTOR_TYPE_VALUES!r}")
