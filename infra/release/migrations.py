"""The frozen migrations of a release, and what a later migration may do to the tables that older code uses.

A migration of a release never changes again. A later one expands: it adds what the code before it can do without.
Taking away is the contract phase. A migration declares it by its attribute `contract_of`: the name of a published
release that no longer uses what the migration takes away.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from django.db.migrations import Migration, operations
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import NOT_PROVIDED, Field

from backend.tenancy.isolation import PLAIN_TABLES
from infra.release.version import PROJECT, numbers

RELEASES = Path(__file__).parent
MIGRATIONS, GUARD = "migrations.json", "guard.json"
_TAKES_AWAY = re.compile(
    r"\b(DROP\s+(?:TABLE|COLUMN|VIEW|FUNCTION|SCHEMA|TYPE)|RENAME|SET\s+NOT\s+NULL|ALTER\s+COLUMN\s+\S+\s+(?:SET\s+DATA\s+)?TYPE"
    r"|REVOKE|ADD\s+CONSTRAINT|CREATE\s+UNIQUE)\b",
    flags=re.I,
)
"""SQL after which statements of older code may fail."""
_ALWAYS = (
    operations.DeleteModel,
    operations.RenameModel,
    operations.AlterModelTable,
    operations.AlterUniqueTogether,
    operations.RemoveField,
    operations.RenameField,
    operations.AddConstraint,
)


def releases() -> list[str]:
    """Return the names of the frozen releases, oldest first."""
    return sorted((path.parent.name for path in RELEASES.glob(f"*/{MIGRATIONS}")), key=numbers)


def frozen(release: str) -> dict[str, str]:
    """Return the migrations of a release with their hashes."""
    listed: dict[str, str] = json.loads((RELEASES / release / MIGRATIONS).read_text())
    return listed


def hashes(project: Path = PROJECT) -> dict[str, str]:
    """Return each migration of this code as app/name, with the hash of its file."""
    files = sorted(project.glob("backend/*/migrations/[0-9]*.py"))
    return {f"{path.parts[-3]}/{path.stem}": hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def guard_lists() -> dict[str, list[str]]:
    """Return what the guard of tenants accepts in a database (backend.tenancy.guard), as this code lists it."""
    folder = PROJECT / "backend" / "tenancy"
    return {
        "plain_tables": sorted(PLAIN_TABLES),
        "rights": _lines(folder / "rights.txt"),
        "graph_routines": _lines(folder / "graph_routines.txt"),
    }


def guard_lists_of(release: str) -> dict[str, list[str]]:
    """Return what the guard of a release accepts."""
    listed: dict[str, list[str]] = json.loads((RELEASES / release / GUARD).read_text())
    return listed


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def freeze(folder: Path) -> None:
    """Write the lists of a release: its migrations, and what its guard accepts."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, listed in ((MIGRATIONS, hashes()), (GUARD, guard_lists())):
        (folder / name).write_text(json.dumps(listed, indent=1) + "\n")


def changed(release: str, now: dict[str, str]) -> list[str]:
    """Return the migrations of a release that changed or vanished since."""
    return [name for name, digest in frozen(release).items() if now.get(name) != digest]


def taken_away(migration: Migration, before: ProjectState, published: Sequence[str]) -> list[str]:
    """Return what a migration does that breaks the release before it, unless it declares its contract phase.

    before: the models as the migrations before this one left them.
    """
    contract = getattr(migration, "contract_of", None)
    if contract is not None:
        return [] if contract in published else [f"contract_of names {contract}, which is no published release"]
    state, found = before.clone(), []
    # What this migration made itself, older code does not know.
    new = {each.name_lower for each in _of_database(migration.operations) if isinstance(each, operations.CreateModel)}
    for operation in migration.operations:
        found += [
            each.describe()
            for each in _of_database([operation])
            if getattr(each, "model_name_lower", "") not in new and _breaks(each, state, migration.app_label, new)
        ]
        operation.state_forwards(migration.app_label, state)
    return found


def _of_database(found: Sequence[Operation]) -> Iterator[Operation]:
    for operation in found:
        if isinstance(operation, operations.SeparateDatabaseAndState):
            yield from _of_database(operation.database_operations)
        else:
            yield operation


def _breaks(operation: Operation, state: ProjectState, app: str, new: Collection[str]) -> bool:
    if isinstance(operation, operations.AddField):
        field = operation.field
        # Older code inserts rows without the column, and Django's own default is not in the database.
        return not (field.null or field.many_to_many or field.generated or field.db_default is not NOT_PROVIDED)
    if isinstance(operation, operations.AlterField):
        return _tightens(state.models[app, operation.model_name_lower].get_field(operation.name), operation.field)
    if isinstance(operation, operations.RunSQL):
        statements = [operation.sql] if isinstance(operation.sql, str) else [str(each) for each in operation.sql]
        own = [f"{app}_{model}" for model in new]
        return any(_TAKES_AWAY.search(each) and not any(table in each for table in own) for each in statements)
    return isinstance(operation, _ALWAYS)


def _tightens(before: Field[Any, Any], after: Field[Any, Any]) -> bool:
    shorter = (after.max_length or math.inf) < (before.max_length or math.inf)
    other = before.get_internal_type() != after.get_internal_type()
    return shorter or other or (before.null and not after.null) or (after.unique and not before.unique)
