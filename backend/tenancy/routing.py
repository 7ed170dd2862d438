"""Only the owner role migrates; every other alias is the same database seen with fewer rights."""

from __future__ import annotations

from typing import Any


class OwnerMigrates:
    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == "owner"

    def allow_relation(self, obj1: Any, obj2: Any, **hints: Any) -> bool:
        # All aliases are roles of one database.
        return True
