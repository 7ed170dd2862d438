"""Migrations of a release stay as they are, and later ones keep the code of the release before working."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import migrations as django_migrations
from django.db import models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ModelState, ProjectState

from backend.tenancy import isolation, rights
from backend.tenancy.ddl import tenant_table
from infra.release import migrations
from infra.release.version import PROJECT, VERSION, numbers


def later() -> dict[str, django_migrations.Migration]:
    """Return our migrations that no release has frozen, by app/name."""
    known = {name for release in migrations.releases() for name in migrations.frozen(release)}
    loader = MigrationLoader(None, ignore_no_migrations=True)
    ours = migrations.hashes()
    return {f"{app}/{name}": found for (app, name), found in loader.graph.nodes.items()
            if f"{app}/{name}" in ours.keys() - known}  # fmt: skip


@pytest.mark.parametrize("release", migrations.releases())
def test_a_migration_of_a_release_never_changes(release: str) -> None:
    """Mend a mistake by another migration. While a release is not published, `make freeze-release` lists it again."""
    assert migrations.changed(release, migrations.hashes()) == []


def test_a_changed_and_a_vanished_migration_are_named() -> None:
    now = migrations.frozen(VERSION)
    changed, vanished = sorted(now)[:2]
    assert migrations.changed(VERSION, {**{name: now[name] for name in now if name != vanished}, changed: "x"}) == [
        changed, vanished,
    ]  # fmt: skip


def test_the_version_has_not_passed_the_last_release() -> None:
    assert migrations.releases(), "make freeze-release"
    assert numbers(migrations.releases()[-1]) <= numbers(VERSION)


def test_later_migrations_keep_the_release_before_working() -> None:
    loader = MigrationLoader(None, ignore_no_migrations=True)
    found = {}
    for name, migration in later().items():
        before = loader.project_state((migration.app_label, migration.name), at_end=False)
        found[name] = migrations.taken_away(migration, before, migrations.releases())
    assert {name: broken for name, broken in found.items() if broken} == {}, "declare the contract phase: contract_of"


KEY = models.BigAutoField(primary_key=True)
NOTE, NAME = models.CharField(max_length=9, null=True), models.CharField(max_length=9)
STATE = ModelState("library", "Thing", [("id", KEY), ("note", NOTE), ("name", NAME)])
NEW = models.CharField(max_length=9)


@pytest.mark.parametrize(
    ("operation", "breaks"),
    [
        (django_migrations.AddField("thing", "new", NEW), True),
        (django_migrations.AddField("thing", "new", models.CharField(max_length=9, default="")), True),
        (django_migrations.AddField("thing", "new", models.CharField(max_length=9, null=True)), False),
        (django_migrations.AddField("thing", "new", models.CharField(max_length=9, db_default="")), False),
        (django_migrations.RemoveField("thing", "note"), True),
        (django_migrations.RenameField("thing", "note", "remark"), True),
        (django_migrations.AlterField("thing", "note", models.CharField(max_length=9)), True),
        (django_migrations.AlterField("thing", "name", models.CharField(max_length=8)), True),
        (django_migrations.AlterField("thing", "name", models.IntegerField()), True),
        (django_migrations.AlterField("thing", "name", models.CharField(max_length=9, unique=True)), True),
        (django_migrations.AlterField("thing", "name", models.CharField(max_length=99, null=True)), False),
        (django_migrations.DeleteModel("thing"), True),
        (django_migrations.CreateModel("other", [("id", models.BigAutoField(primary_key=True))]), False),
        (django_migrations.AddIndex("thing", models.Index(fields=["name"], name="by_name")), False),
        (django_migrations.RunSQL("ALTER TABLE library_thing DROP COLUMN note"), True),
        (django_migrations.RunSQL("ALTER TABLE library_thing\n  ALTER COLUMN note SET NOT NULL"), True),
        (django_migrations.RunSQL("CREATE INDEX i ON library_thing (note)"), False),
        (django_migrations.SeparateDatabaseAndState([django_migrations.RemoveField("thing", "note")], []), True),
        (django_migrations.SeparateDatabaseAndState([], [django_migrations.RemoveField("thing", "note")]), False),
    ],
)  # fmt: skip
def test_what_breaks_the_release_before(operation: Operation, *, breaks: bool) -> None:
    assert bool(taken_away([operation])) is breaks


def test_a_new_table_may_be_shaped_by_its_own_migration() -> None:
    made = django_migrations.CreateModel("other", [("id", models.BigAutoField(primary_key=True))])
    assert taken_away([made, tenant_table("library_other")]) == []
    assert taken_away([made, tenant_table("library_thing")]) != []


def test_the_contract_phase_is_declared_by_a_published_release() -> None:
    gone = [django_migrations.RemoveField("thing", "note")]
    assert taken_away(gone, contract_of="1.0.0") == []
    assert taken_away(gone, contract_of="9.0.0") == ["contract_of names 9.0.0, which is no published release"]


def taken_away(found: list[Operation], **attributes: Any) -> list[str]:
    kind = type("Migration", (django_migrations.Migration,), {"operations": found, **attributes})
    state = ProjectState()
    state.add_model(STATE.clone())
    return migrations.taken_away(kind("0099_later", "library"), state, ["1.0.0"])


@pytest.mark.parametrize("release", migrations.releases())
def test_the_guard_of_a_release_accepts_the_schema_of_now(
    database: None, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the processes of that release end as soon as the new migrations have run, and none can go back to it.

    So a right, a function of AGE or a table without tenants is listed in one release, and used in the next.
    """
    lists = migrations.guard_lists_of(release)
    expected = {}
    for line in lists["rights"]:
        kind, name, role, *privileges = line.split()
        expected[rights.Right(kind, name, role)] = frozenset(privileges)
    monkeypatch.setattr(rights, "expected", lambda: expected)
    monkeypatch.setattr(rights, "graph_routines", lambda: frozenset(lists["graph_routines"]))
    monkeypatch.setattr(isolation, "PLAIN_TABLES", frozenset(lists["plain_tables"]))

    assert isolation.faults() == []


def test_the_release_is_named_in_the_places_that_follow_the_version() -> None:
    """compose.yaml cannot read pyproject.toml. tests/infra compares the chart."""
    defaults = set((PROJECT / "infra" / "compose.yaml").read_text().split("${AVA_VERSION:-")[1:])
    assert {each.partition("}")[0] for each in defaults} == {VERSION}
    assert f"## {VERSION}\n" in (PROJECT / "CHANGELOG.md").read_text()
