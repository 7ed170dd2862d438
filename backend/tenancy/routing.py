"""Only the owner role migrates; every other alias is the same database seen with fewer rights."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from backend.tenancy.models import TenantRow


class OwnerMigrates:
    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == "owner"

    def allow_relation(self, obj1: Any, obj2: Any, **hints: Any) -> bool:
        # All aliases are roles of one database.
        return True


PEOPLES_APPS = frozenset(
    {"people", "auth", "sessions", "admin", "account", "mfa", "socialaccount", "usersessions", "staff"}
)
"""Apps whose tables hold people, their sessions and second factors; what a tenant says of people is the tenant's."""


class PeopleApart:
    """Reads and writes people through a role of their own: `people` in the API, `staff` in the console."""

    def db_for_read(self, model: Any, **hints: Any) -> str | None:
        if model._meta.app_label not in PEOPLES_APPS or issubclass(model, TenantRow):
            return None
        # A row is written back through the role that read it.
        if (read := getattr(hints.get("instance"), "_state", None)) is not None and read.db in ("people", "staff"):
            return str(read.db)
        return "staff" if settings.PROCESS == "console" or model._meta.app_label == "staff" else "people"

    db_for_write = db_for_read
