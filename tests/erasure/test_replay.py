"""A restored database forgets deletions; the ledger in object storage repeats them."""

from __future__ import annotations

import io
import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pgserver
from django.core.management import call_command
from django.db import connections

from backend.accounts import suspension
from backend.api.public_ids import decode, encode
from backend.audit.services import OPERATOR
from backend.clips.models import Clip
from backend.erasure.services import retention
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.sweeps import SYSTEM_TENANT
from backend.library.models import Upload, Video
from backend.library.services.deletion_ledger import Deleted, record
from backend.library.services.ended_rights import record_endings
from backend.people.services import departures
from backend.questions.models import Comparison, Question, QuestionBatch, Search, Session
from backend.tenancy.context import tenant_scope
from tests.conftest import Cast, make_tenant
from tests.isolation.test_catalog import superuser
from tests.library.uploading import make_video
from tests.people.cast import member_of
from tests.questions.world import ask, finish
from tests.running import run_job

PG = Path(pgserver.__file__).parent / "pginstall" / "bin"


def backup(file: Path) -> None:
    """Dump every row of every table."""
    _run("pg_dump", "--data-only", "--format=custom", "--schema=public", f"--file={file}", f"--dbname={_database()}")


def restore(file: Path) -> None:
    """Put the database back to the dump: rows that came are gone, and rows that went are there again."""
    with superuser() as connection, connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        found = connection.execute(
            "SELECT c.oid::regclass FROM pg_class c WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition "
            "AND c.relnamespace = 'public'::regnamespace"
        )
        connection.execute("TRUNCATE " + ", ".join(table for (table,) in found.fetchall()))
    _run("pg_restore", "--data-only", "--disable-triggers", "--exit-on-error", f"--dbname={_database()}", str(file))


def _run(program: str, *arguments: str) -> None:
    subprocess.run([str(PG / program), *arguments], check=True)


def _database() -> str:
    name = urlsplit(os.environ["DATABASE_URL"]).path
    return urlsplit(os.environ["DATABASE_SUPERUSER_URL"])._replace(path=name).geturl()


def replayed(**options: Any) -> dict[str, int]:
    out = io.StringIO()
    call_command("replay_deletions", stdout=out, **options)
    counts: dict[str, int] = json.loads(out.getvalue())
    return counts


BY_REQUEST = 11
"""Number of kinds that are written before the deletion is committed; the others follow by the sweep."""


def rights_of(cast: Cast) -> dict[str, str]:
    """Give the tenant a right of each kind that a request ends, and return their paths by kind."""
    client = cast.client
    question, video = ask(cast)
    finish(cast, question, video)
    share = {"question_id": encode("qst", question), "expires_at": (datetime.now(UTC) + timedelta(days=1)).isoformat()}
    made = {
        "api_key": ("api-keys", {"name": "ci", "scopes": ["videos:read"]}),
        "invitation": ("invitations", {"email": "eve@example.org", "role": "viewer"}),
        "share": ("shares", share),
        "webhook_endpoint": ("webhook-endpoints", {"url": "https://example.org/hook"}),
    }
    paths = {}
    for kind, (path, body) in made.items():
        reply = client.post(f"/v1/{path}", body)
        assert reply.status_code == 201, reply.content
        paths[kind] = f"{path}/{reply.json()['id']}"
    return {**paths, "member": f"members/{encode('mem', member_of(cast, 'viewer').id)}"}


def test_a_restore_brings_deleted_things_back_and_the_replay_removes_them_again(
    acme: Cast, globex: Cast, tmp_path: Path
) -> None:
    client = acme.client
    kept, _ = ask(acme)
    question, _ = ask(acme)
    _, scope = ask(acme)
    video = make_video(client)
    upload = make_video(client, b"other")["upload_id"]
    videos = {"video_ids": [encode("vid", scope)]}
    session = client.post("/v1/sessions", videos).json()["id"]
    batch = client.post("/v1/question-batches", {"questions": [{"question": "Where?", **videos}]}).json()["id"]
    with acme.scope():
        search = Search.objects.create(tenant_id=acme.tenant_id, text="dog", settings={})
        comparison = Comparison.objects.create(tenant_id=acme.tenant_id, total=0, arms=[], status="completed")
        clip = Clip.objects.create(
            tenant_id=acme.tenant_id, video_id=scope, mode="fast", captions="none", start_ms=0, end_ms=1,
            expires_at=datetime.now(UTC) + timedelta(days=1),
        )  # fmt: skip
    rights = rights_of(acme)
    initrode = make_tenant("initrode")
    with initrode.scope():
        assert suspension.suspend(actor=OPERATOR, reason="For a while.")
    bare, blind = (decode("vid", make_video(client, content)["id"]) for content in (b"bare", b"blind"))
    gone = make_tenant("initech")
    backup(tmp_path / "dump")
    paths = (f"videos/{video['id']}", f"questions/{encode('qst', question)}", f"searches/{encode('sea', search.id)}",
             f"sessions/{session}", f"question-batches/{batch}", f"uploads/{upload}",
             f"clips/{encode('clp', clip.id)}", f"comparisons/{encode('cmp', comparison.id)}",
             *rights.values())  # fmt: skip
    for path in paths:
        assert client.delete(f"/v1/{path}").status_code in (202, 204), path
    with acme.scope():
        # The retention of a tenant's settings does the same.
        assert retention.drop_source(bare)
        assert retention.drop_thumbnails(blind)
        record(Deleted.SOURCE, [bare])
        record(Deleted.THUMBNAILS, [blind])
    call_command("erase_tenant", gone.slug, yes=gone.slug, stdout=io.StringIO())
    with globex.scope():
        assert suspension.suspend(actor=OPERATOR, reason="A key has leaked.")
    with initrode.scope():
        assert suspension.resume(actor=OPERATOR, reason="It is over.")
    # One of each kind, and two suspensions more: of the tenant that is erased, and the earlier one.
    assert record_endings() == len(Deleted) - BY_REQUEST + 2
    assert record_endings() == 0

    connections.close_all()
    restore(tmp_path / "dump")
    with acme.scope():
        assert Question.objects.filter(id=question).exists(), "the restore has brought it back"
        assert Video.objects.get(id=decode("vid", video["id"])).status == "queued"
        assert Video.objects.get(id=bare).source_deleted_at is None
        assert Video.objects.get(id=blind).thumbnails_deleted_at is None
    assert [client.get(f"/v1/{path}").status_code for path in rights.values()] == [200] * len(rights), "they are back"

    counts = replayed(since=datetime.now(UTC).date() - timedelta(days=1))

    assert counts == dict.fromkeys((kind.value for kind in Deleted), 1)
    shown = {name: client.get(f"/v1/{path}") for name, path in rights.items()}
    assert [shown[name].status_code for name in ("member", "webhook_endpoint")] == [404, 404]
    assert all(shown[name].json()["revoked_at"] for name in ("api_key", "share", "invitation"))
    with superuser() as connection:
        found = connection.execute("SELECT id FROM tenancy_tenant WHERE suspended_at IS NOT NULL").fetchall()
    assert {id for (id,) in found} == {globex.tenant_id, gone.tenant_id}
    assert departures.erase_departed() == 1, "the member's account had come back, too"
    with acme.scope():
        purge = Job.objects.get(kind=JobKind.PURGE_VIDEO)
        assert (purge.subject_id, purge.state) == (decode("vid", video["id"]), JobState.QUEUED)
        assert not any(model.objects.exists() for model in (Search, Session, QuestionBatch, Comparison, Clip))
        assert Video.objects.get(id=bare).source_deleted_at is not None
        assert Video.objects.get(id=blind).thumbnails_deleted_at is not None
        assert kept in set(Question.objects.values_list("id", flat=True))
        assert not Question.objects.filter(id=question).exists()
        assert not Upload.objects.filter(id=decode("upl", upload)).exists()
    with tenant_scope(SYSTEM_TENANT):
        assert Job.objects.get(kind=JobKind.ERASE_TENANT).subject_id == gone.tenant_id
    run_job(purge.id, acme.tenant_id, worker="test")
    # The second replay finds the tenant, whose job has not run, and nothing else.
    assert replayed() == {"tenant": 1}
