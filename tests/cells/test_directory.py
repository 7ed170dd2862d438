"""Tenants and keys are registered where they are made, and the control database lets its roles do no more."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from backend.tenancy.directory import Directory
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused
from backend.tenancy.services import create_tenant
from tests.cells.world import Cells


def create(slug: str, **options: Any) -> dict[str, str]:
    out = StringIO()
    call_command("create_tenant", name=slug.title(), slug=slug, stdout=out, **options)
    made: dict[str, str] = json.loads(out.getvalue())
    return made


def public_id(key: str) -> str:
    return key.split("_")[2]


def key_place(cells: Cells, key: str) -> str | None:
    with psycopg.connect(cells.mover_url) as connection:
        row = connection.execute(
            "SELECT cell FROM directory.key JOIN directory.place USING (tenant_id) WHERE public_id = %s",
            [public_id(key)],
        ).fetchone()
        return row and row[0]


def test_a_tenant_is_created_in_the_cell_that_is_named(cells: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_CONTROL_URL", cells.control_url)
    with override_settings(CONTROL_URL=cells.control_url, CELL="a"):
        here = create("here")
        there = create("there", cell="b")
        with pytest.raises(CommandError, match="slug here exists"):
            create("here", cell="b")
        with pytest.raises(CommandError, match="no cell c"):
            create("nowhere", cell="c")

    assert (key_place(cells, here["api_key"]), key_place(cells, there["api_key"])) == ("a", "b")
    slugs = Tenant.objects.using("dispatch").filter(slug__in=["here", "there"])
    assert list(slugs.values_list("slug", "placement")) == [("here", "a")]
    with cells.inside_b():
        there_row = Tenant.objects.using("dispatch").get(slug="there")
        assert (str(there_row.id), there_row.placement) == (there["tenant_id"], "b")


def test_a_closed_cell_takes_no_new_tenant(cells: Cells) -> None:
    call_command("cells", add="a", api_url="http://a.invalid", closed=True, stdout=StringIO())
    with (
        override_settings(CONTROL_URL=cells.control_url, CELL="a"),
        pytest.raises(CommandError, match="accepts no new"),
    ):
        create("late")
    out = StringIO()
    call_command("cells", add="a", api_url="http://a.invalid/", stdout=out)

    assert json.loads(out.getvalue().splitlines()[0]) == {
        "cell": "a", "api_url": "http://a.invalid", "accepts": True, "tenants": 0,
    }  # fmt: skip


def test_a_refused_tenant_leaves_no_place_behind(cells: Cells) -> None:
    def refuse(tenant: Tenant) -> None:
        raise Refused("no_owner", "The owner cannot be invited.")

    with override_settings(CONTROL_URL=cells.control_url, CELL="a"):
        for wrong in ({"plan": "no-such-plan"}, {"prepare": refuse}):
            with pytest.raises(Refused):
                create_tenant(name="Late", slug="late-tenant", **wrong)
        places = "SELECT count(*) FROM directory.place WHERE slug = 'late-tenant'"
        with psycopg.connect(cells.mover_url) as connection:
            assert connection.execute(places).fetchone() == (0,)
        created = create_tenant(name="Late", slug="late-tenant")
        with pytest.raises(Refused, match="slug late-tenant exists"):
            create_tenant(name="Later", slug="late-tenant")

    assert list(Tenant.objects.using("dispatch").filter(slug="late-tenant").values_list("id", flat=True)) == [
        created.id
    ]


def test_without_a_control_database_no_key_is_made(cells: Cells) -> None:
    with override_settings(CONTROL_URL=cells.control_url, CELL="a"):
        made = create("acme-keys")
        from rest_framework.test import APIClient

        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {made['api_key']}")
        with override_settings(CONTROL_URL="postgresql://a:b@127.0.0.1:9/x"):
            refused = client.post("/v1/api-keys", {"name": "n", "scopes": ["videos:read"]})
            answered = client.get("/v1/videos")
        issued = client.post("/v1/api-keys", {"name": "n", "scopes": ["videos:read"]})

    assert (refused.status_code, refused.json()["code"]) == (503, "directory_away")
    assert answered.status_code == 200
    assert issued.status_code == 201, issued.content
    assert key_place(cells, issued.json()["key"]) == "a"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE directory.place SET cell = 'b'",
        "INSERT INTO directory.cell VALUES ('c', 'http://c.invalid')",
        "DELETE FROM directory.key",
        "UPDATE directory.key SET tenant_id = tenant_id",
        "DELETE FROM directory.place",
        "INSERT INTO directory.move (tenant_id, source, target, phase) VALUES (gen_random_uuid(), 'a', 'b', 'copying')",
    ],
)
def test_a_cell_cannot_redirect_tenants(cells: Cells, statement: str) -> None:
    with psycopg.connect(cells.control_url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement)


def test_two_processes_do_not_move_one_tenant(cells: Cells, acme: Any) -> None:
    cells.place(acme.tenant_id, acme.slug)
    with Directory(cells.mover_url) as other:
        assert other.claim_move(acme.tenant_id)
        with pytest.raises(CommandError, match="another process moves this tenant"):
            call_command("move_tenant", acme.slug, "b")
