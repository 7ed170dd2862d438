from typing import Literal

ExportAuditEventsFileType = Literal["csv", "jsonl"]

EXPORT_AUDIT_EVENTS_FILE_TYPE_VALUES: set[ExportAuditEventsFileType] = {
    "csv",
    "jsonl",
}


def check_export_audit_events_file_type(value: str) -> ExportAuditEventsFileType:
    if value in EXPORT_AUDIT_EVENTS_FILE_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXPORT_AUDIT_EVENTS_FILE_TYPE_VALUES!r}")
