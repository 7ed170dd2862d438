"""An installation of its own on the servers of the tests: database, bucket, and the program of backups."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import boto3
import pgserver
import psycopg
from django.core.management import call_command
from django.test import override_settings

from backend.api.public_ids import decode, encode
from backend.tenancy import isolation, keys
from backend.tenancy.keys import PresentedKey
from infra.release.__main__ import SEED, TENANTS
from infra.release.migrations import RELEASES
from infra.release.version import PROJECT, VERSION
from tests.archives.world import inside
from tests.conftest import ROLE_VARIABLES, Cast, _with_database, superuser_url
from tests.playback.watched import lines_of, media, playlist
from tests.scripted_openai import ScriptedOpenAIServer
from tests.tasks.test_answer_jobs import saying
from tests.tasks.world import run_due

PROGRAMS = Path(pgserver.__file__).parent / "pginstall" / "bin"
# The tests alone have them: the keys of a committed backup work in no other installation.
SECRETS = {"AVA_KEY_PEPPERS": f"1:{'0' * 48}", "AVA_ENCRYPTION_KEYS": f"1:{'1' * 48}"}
SETTINGS = {"KEY_PEPPERS": {1: "0" * 48}, "ENCRYPTION_KEYS": {1: "1" * 48}, "KEEP_RENDITIONS": True}
CHOICES = ["a boat", "a tennis ball", "a cat"]
RIGHT = CHOICES[1]


@dataclass(frozen=True, slots=True)
class Installation:
    """A database and a bucket that a test may lose."""

    database: str
    bucket: str

    def inside(self) -> AbstractContextManager[None]:
        """Make this process one of the installation, with the secrets of committed backups."""
        return _both(inside(self.database, self.bucket), override_settings(**SETTINGS))

    def env(self, **more: str) -> dict[str, str]:
        """Return the environment of the installation's programs."""
        server = urlsplit(os.environ["DATABASE_SUPERUSER_URL"])
        urls = {name: _with_database(os.environ[name], self.database) for name in ROLE_VARIABLES if name in os.environ}
        return {
            **os.environ,
            **urls,
            **SECRETS,
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
            "PGHOST": server.hostname or "",
            "PGPORT": str(server.port),
            "PGUSER": server.username or "",
            "PGPASSWORD": server.password or "",
            "PGDATABASE": self.database,
            "S3_BUCKET": self.bucket,
            "AVA_VERSION": VERSION,
            **more,
        }

    def backups(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run the program of backups as its container does."""
        return self._run([sys.executable, "-m", "infra.backups", *arguments], **env)

    def migrate(self) -> None:
        """Provision and migrate as the deployment does."""
        for step in (["provision"], ["migrate", "--noinput", "--database", "owner", "-v0"]):
            done = self._run([sys.executable, "manage.py", *step])
            assert done.returncode == 0, done.stderr[-3000:]

    def manage(self, *arguments: str) -> str:
        """Run a command of manage.py in the installation, and return what it prints."""
        done = self._run([sys.executable, "manage.py", *arguments])
        assert done.returncode == 0, done.stdout + done.stderr[-3000:]
        return done.stdout

    def schema(self) -> list[str]:
        """Return the statements that would make the database without its rows, in the order of their text."""
        done = self._run(["pg_dump", "--schema-only", f"--dbname={self.database}"])
        assert done.returncode == 0, done.stderr
        return sorted(line for line in done.stdout.splitlines() if line and not line.startswith(("--", "\\")))

    def copy_schema(self, database: str) -> None:
        """Make the database with the schema of another one, by a dump."""
        with psycopg.connect(superuser_url(), autocommit=True) as server:
            server.execute(f'CREATE DATABASE "{self.database}" OWNER app_owner TEMPLATE template0')
        dump = f"pg_dump --schema-only --format=custom --dbname={database}"
        done = self._run(["sh", "-c", f"{dump} | pg_restore --exit-on-error --dbname={self.database}"])
        assert done.returncode == 0, done.stderr

    def superuser(self) -> psycopg.Connection[Any]:
        return psycopg.connect(_with_database(superuser_url(), self.database), autocommit=True)

    def rows(self) -> dict[str, tuple[int, str]]:
        """Return number and digest of the rows of each table that has some, of the graph too."""
        found = {}
        with self.superuser() as server:
            tables = server.execute(
                "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' "
                "AND relnamespace IN ('public'::regnamespace, 'ekg'::regnamespace)"
            ).fetchall()
            for (table,) in tables:
                row = server.execute(
                    f"SELECT count(*), md5(string_agg(r::text, ',' ORDER BY r::text)) FROM ONLY {table} r"
                ).fetchone()
                assert row is not None
                if row[0]:
                    found[table] = (row[0], row[1])
        return found

    def destroy(self) -> None:
        """Delete the database and the bucket with all objects."""
        with psycopg.connect(superuser_url(), autocommit=True) as server:
            server.execute(f'DROP DATABASE IF EXISTS "{self.database}" WITH (FORCE)')
        client = s3()
        if self.bucket in {each["Name"] for each in client.list_buckets()["Buckets"]}:
            for each in client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket):
                for found in each.get("Contents", []):
                    client.delete_object(Bucket=self.bucket, Key=found["Key"])
            client.delete_bucket(Bucket=self.bucket)

    def objects(self) -> dict[str, tuple[bytes, str]]:
        """Return content and type of each object of the bucket."""
        client, found = s3(), {}
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket):
            for each in page.get("Contents", []):
                reply = client.get_object(Bucket=self.bucket, Key=each["Key"])
                found[each["Key"]] = (reply["Body"].read(), reply["ContentType"])
        return found

    def _run(self, command: list[str], **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=PROJECT, env=self.env(**env), capture_output=True, text=True, timeout=300)


@dataclass(frozen=True, slots=True)
class Seeded:
    """An installation that a release left, and its tenants with their videos."""

    own: Installation
    tenants: list[tuple[Cast, UUID]]

    def assert_sound(self) -> None:
        """Check graph against rows, ledger against model calls, the money, the guard, and that a rendition plays."""
        said = StringIO()
        with self.own.inside():
            for check in ("check_index", "check_ledger", "check_invariants"):
                call_command(check, stdout=said)
            assert isolation.faults() == []
            for cast, video_id in self.tenants:
                text = playlist(cast, video_id)
                assert lines_of(text)
                assert len(media(cast, video_id, text)) > 1_000
        assert said.getvalue().count("version 1: ok") == len(self.tenants)
        assert "the ledger agrees" in said.getvalue()
        assert "no violation" in said.getvalue()


def key_of(slug: str) -> PresentedKey:
    """Return the key of a tenant of a committed backup.

    It is computed from the name before the slug's hyphen, so scanners of secrets find none in the repository.
    """
    digits = hashlib.sha256(slug.partition("-")[0].encode()).hexdigest()
    body = f"{keys.hint(digits[:10], test=False)}_{digits[10:42]}"
    return PresentedKey(text=body + keys.checksum(body), public_id=digits[:10])


def restored_release(own: Installation, release: str, folder: Path) -> Seeded:
    """Restore the committed backup of a release, as its code left it. folder: where it is unpacked."""
    shutil.unpack_archive(RELEASES / release / SEED, folder)
    restored = own.backups("restore", str(folder / "seed"))
    assert restored.returncode == 0, restored.stderr
    known = json.loads((RELEASES / release / TENANTS).read_text())
    casts = [Cast(UUID(each["tenant_id"]), each["slug"], key_of(each["slug"]).text, uuid4()) for each in known]
    return Seeded(own, [(cast, decode("vid", each["video_id"])) for cast, each in zip(casts, known, strict=True)])


@contextmanager
def _both(one: AbstractContextManager[Any], other: AbstractContextManager[Any]) -> Iterator[None]:
    with one, other:
        yield


def s3() -> Any:
    return boto3.client(
        "s3",
        endpoint_url=os.environ["S3_ENDPOINT_URL"],
        aws_access_key_id=os.environ["S3_ACCESS_KEY_ID"],
        aws_secret_access_key=os.environ["S3_SECRET_ACCESS_KEY"],
        region_name="us-east-1",
    )


def installation(name: str) -> Installation:
    """Return an installation that has neither database nor bucket yet; tests that run at once have different ones."""
    own = urlsplit(os.environ["DATABASE_URL"]).path.lstrip("/")
    return Installation(f"{own}_{name}", f"{own}-{name}".replace("_", "-"))


def answered(cast: Cast, video_id: UUID, llm: ScriptedOpenAIServer) -> str:
    """Ask what the dogs of the video chase, let the workers answer, and return the answer."""
    llm.script = saying(lambda request: "B")
    body = {"question": "What do the dogs chase?", "choices": CHOICES, "video_ids": [encode("vid", video_id)]}
    asked = cast.client.post("/v1/questions", body)
    assert asked.status_code == 202, asked.content
    run_due()
    question = cast.client.get(f"/v1/questions/{asked.json()['id']}").json()
    assert question["status"] == "succeeded", question
    assert question["evidence"], question
    return str(question["answer"])
