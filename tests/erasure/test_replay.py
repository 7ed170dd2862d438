"""A restored database forgets deletions; the ledger in object storage repeats them."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from django.core.management import call_command

from backend.api.public_ids import decode, encode
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.sweeps import SYSTEM_TENANT
from backend.library.models import Upload, Video
from backend.questions.models import Question, QuestionBatch, Search, Session
from backend.tenancy.context import tenant_scope
from tests.conftest import Cast, make_tenant
from tests.isolation.test_catalog import superuser
from tests.library.uploading import make_video
from tests.questions.world import ask
from workers.runner import run_job


def backup() -> dict[str, list[Any]]:
    """Copy every row of every table, as a backup does."""
    with superuser() as connection:
        return {table: _rows(connection, table) for table in _tables(connection)}


def restore(copy: dict[str, list[Any]]) -> None:
    """Put the database back to the copy: rows that came are gone, and rows that went are there again."""
    with superuser() as connection, connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        for table, rows in copy.items():
            connection.execute(f'DELETE FROM "{table}"')
            for row in rows:
                connection.execute(
                    f'INSERT INTO "{table}" SELECT * FROM jsonb_populate_record(NULL::"{table}", %s)',
                    [json.dumps(row)],
                )


def _tables(connection: psycopg.Connection) -> list[str]:
    found = connection.execute(
        "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' "
        "WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace "
        "UNION SELECT 'tenancy_tenant' ORDER BY 1"
    )
    return [name for (name,) in found.fetchall()]


def _rows(connection: psycopg.Connection, table: str) -> list[Any]:
    return [row for (row,) in connection.execute(f'SELECT to_jsonb(t) FROM "{table}" t').fetchall()]


def replayed(**options: Any) -> dict[str, int]:
    out = io.StringIO()
    call_command("replay_deletions", stdout=out, **options)
    counts: dict[str, int] = json.loads(out.getvalue())
    return counts


def test_a_restore_brings_deleted_things_back_and_the_replay_removes_them_again(acme: Cast, globex: Cast) -> None:
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
    gone = make_tenant("initech")
    copy = backup()
    paths = (f"videos/{video['id']}", f"questions/{encode('qst', question)}", f"searches/{encode('sea', search.id)}",
             f"sessions/{session}", f"question-batches/{batch}", f"uploads/{upload}")  # fmt: skip
    for path in paths:
        assert client.delete(f"/v1/{path}").status_code in (202, 204), path
    call_command("erase_tenant", gone.slug, yes=gone.slug, stdout=io.StringIO())

    restore(copy)
    with acme.scope():
        assert Question.objects.filter(id=question).exists(), "the restore has brought it back"
        assert Video.objects.get(id=decode("vid", video["id"])).status == "queued"

    counts = replayed(since=datetime.now(UTC).date() - timedelta(days=1))

    kinds = ("batch", "question", "search", "session", "tenant", "upload", "video")
    assert counts == dict.fromkeys(kinds, 1)
    with acme.scope():
        purge = Job.objects.get(kind=JobKind.PURGE_VIDEO)
        assert (purge.subject_id, purge.state) == (decode("vid", video["id"]), JobState.QUEUED)
        assert not any(model.objects.exists() for model in (Search, Session, QuestionBatch))
        assert kept in set(Question.objects.values_list("id", flat=True))
        assert not Question.objects.filter(id=question).exists()
        assert not Upload.objects.filter(id=decode("upl", upload)).exists()
    with tenant_scope(SYSTEM_TENANT):
        assert Job.objects.get(kind=JobKind.ERASE_TENANT).subject_id == gone.tenant_id
    run_job(purge.id, acme.tenant_id, worker="test")
    # The second replay finds the tenant, whose job has not run, and nothing else.
    assert replayed() == {"tenant": 1}
