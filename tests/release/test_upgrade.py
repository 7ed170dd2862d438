"""An installation of each release is restored from its committed backup, upgraded by the code of now, and used."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.db import connection

from backend.api.public_ids import decode
from backend.library.models import Video
from backend.tenancy import isolation
from backend.tenancy.ddl import guarded
from infra.release import migrations
from tests.conftest import TEMPLATE, Cast
from tests.release.world import RIGHT, Seeded, answered, installation, restored_release
from tests.scripted_openai import ScriptedOpenAIServer


@pytest.fixture(scope="module", params=migrations.releases())
def upgraded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seeded]:
    seeded = restored_release(installation("upgraded"), request.param, tmp_path_factory.mktemp("release"))
    seeded.own.migrate()
    yield seeded
    seeded.own.destroy()


def schema_of_a_new_one() -> list[str]:
    """Return the schema that migrations make in an empty database, after a dump: PostgreSQL then writes lists of values
    in another way."""
    new = installation("new")
    new.copy_schema(TEMPLATE)
    try:
        return new.schema()
    finally:
        new.destroy()


def test_it_has_the_schema_of_a_new_installation(upgraded: Seeded) -> None:
    """Also whatever migrations take from modules that are not frozen, and what provisioning makes."""
    ours, fresh = upgraded.own.schema(), schema_of_a_new_one()
    assert [line for line in ours if line not in fresh] == []
    assert ours == fresh


def test_no_migration_waits_and_all_invariants_hold(upgraded: Seeded) -> None:
    assert "[ ]" not in upgraded.own.manage("showmigrations", "--database", "owner")
    upgraded.assert_sound()


def test_a_tenant_sees_its_own_by_its_old_key_and_nothing_else(upgraded: Seeded) -> None:
    (acme, own_video), (globex, _) = upgraded.tenants
    wrong = Cast(uuid4(), "wrong", acme.key[:-4] + "AAAA", uuid4())
    with upgraded.own.inside():
        (seen,) = acme.client.get("/v1/videos").json()["data"]
        assert decode("vid", seen["id"]) == own_video
        assert acme.client.get(f"/v1/videos/{seen['id']}").status_code == 200
        assert globex.client.get(f"/v1/videos/{seen['id']}").status_code == 404
        (question,) = acme.client.get("/v1/questions").json()["data"]
        assert question["answer"] == RIGHT
        assert wrong.client.get("/v1/videos").status_code == 401
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM library_video")
            assert cursor.fetchone() == (0,), "no tenant is entered"


@pytest.mark.slow
@pytest.mark.long
def test_a_question_is_answered_on_the_old_index_and_after_a_rollback(
    upgraded: Seeded, llm: ScriptedOpenAIServer
) -> None:
    """A rollback starts the images of before on a schema that a later release has expanded."""
    cast, video_id = upgraded.tenants[0]
    with upgraded.own.inside():
        assert answered(cast, video_id, llm) == RIGHT
    _expand(upgraded)
    upgraded.own.migrate()
    with upgraded.own.inside():
        assert isolation.faults() == []
        assert answered(cast, video_id, llm) == RIGHT
        with cast.scope():
            Video.objects.filter(id=video_id).update(title="seen by the code of before")


def _expand(upgraded: Seeded) -> None:
    """Change the schema as a later release may do."""
    with upgraded.own.superuser() as server:
        server.execute("SET ROLE app_owner")
        server.execute("ALTER TABLE library_video ADD COLUMN mood text, ADD COLUMN stars int NOT NULL DEFAULT 0")
        server.execute("CREATE TABLE library_mood (tenant_id uuid, id uuid, PRIMARY KEY (tenant_id, id))")
        for statement in (*guarded("library_mood", "tenant_id"), "GRANT SELECT, INSERT ON library_mood TO app_rw"):
            server.execute(statement)
        server.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('library', '0099_mood', now())")
