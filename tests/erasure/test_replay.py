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

from backend.api.public_ids import decode, encode
from backend.erasure.services import retention
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.sweeps import SYSTEM_TENANT
from backend.library.models import Upload, Video
from backend.library.services.deletion_ledger import Deleted, record
from backend.questions.models import Comparison, Question, QuestionBatch, Search, Session
from backend.tenancy.context import tenant_scope
from tests.conftest import Cast, make_tenant
from tests.isolation.test_catalog import superuser
from tests.library.uploading import make_video
from tests.questions.world import ask
from workers.runner import run_job

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
    bare, blind = (decode("vid", make_video(client, content)["id"]) for content in (b"bare", b"blind"))
    gone = make_tenant("initech")
    backup(tmp_path / "dump")
    paths = (f"videos/{video['id']}", f"questions/{encode('qst', question)}", f"searches/{encode('sea', search.id)}",
             f"sessions/{session}", f"question-batches/{batch}", f"uploads/{upload}",
             f"comparisons/{encode('cmp', comparison.id)}")  # fmt: skip
    for path in paths:
        assert client.delete(f"/v1/{path}").status_code in (202, 204), path
    with acme.scope():
        # The retention of a tenant's settings does the same.
        assert retention.drop_source(bare)
        assert retention.drop_thumbnails(blind)
        record(Deleted.SOURCE, [bare])
        record(Deleted.THUMBNAILS, [blind])
    call_command("erase_tenant", gone.slug, yes=gone.slug, stdout=io.StringIO())

    connections.close_all()
    restore(tmp_path / "dump")
    with acme.scope():
        assert Question.objects.filter(id=question).exists(), "the restore has brought it back"
        assert Video.objects.get(id=decode("vid", video["id"])).status == "queued"
        assert Video.objects.get(id=bare).source_deleted_at is None
        assert Video.objects.get(id=blind).thumbnails_deleted_at is None

    counts = replayed(since=datetime.now(UTC).date() - timedelta(days=1))

    assert counts == dict.fromkeys((kind.value for kind in Deleted), 1)
    with acme.scope():
        purge = Job.objects.get(kind=JobKind.PURGE_VIDEO)
        assert (purge.subject_id, purge.state) == (decode("vid", video["id"]), JobState.QUEUED)
        assert not any(model.objects.exists() for model in (Search, Session, QuestionBatch, Comparison))
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
