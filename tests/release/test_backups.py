"""Database and bucket are lost, and come back from a folder or from another bucket."""

from __future__ import annotations

import io
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.backups import backup
from infra.backups.places import Bucket, Folder, Place
from infra.release.version import VERSION
from tests.release.world import RIGHT, Seeded, answered, installation, restored_release, s3
from tests.scripted_openai import ScriptedOpenAIServer


@pytest.fixture
def seeded(tmp_path: Path) -> Iterator[Seeded]:
    """Two tenants with an indexed video, an answer and money."""
    found = restored_release(installation("drill"), VERSION, tmp_path / "release")
    yield found
    found.own.destroy()


@pytest.fixture
def elsewhere() -> Iterator[str]:
    name = installation("elsewhere").bucket
    s3().create_bucket(Bucket=name)
    yield name
    installation("elsewhere").destroy()


def made(seeded: Seeded, target: str, *arguments: str) -> str:
    done = seeded.own.backups("make", target, *arguments, **keys())
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[1].rstrip(":")


def restored(seeded: Seeded, target: str, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return seeded.own.backups("restore", target, *arguments, **keys(), **env)


def keys() -> dict[str, str]:
    """Return the variables of another bucket on the server of the tests."""
    server = {"AVA_BACKUP_ENDPOINT": os.environ["S3_ENDPOINT_URL"]}
    return server | {f"AVA_BACKUP_{name}": os.environ[f"S3_{name}"] for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY")}


@pytest.mark.slow
@pytest.mark.long
def test_everything_comes_back_from_a_folder_and_from_another_bucket(
    seeded: Seeded, elsewhere: str, llm: ScriptedOpenAIServer, tmp_path: Path
) -> None:
    own, (cast, video_id) = seeded.own, seeded.tenants[1]
    with own.inside():
        assert answered(cast, video_id, llm) == RIGHT
        questions = [cast.client.get("/v1/questions").json() for cast, _ in seeded.tenants]
    objects, rows = own.objects(), own.rows()
    # Large tables are counted by partition.
    found = {name.partition("_2")[0].removesuffix('"') for name in rows}
    assert {"billing_usageevent", 'ekg."NEXT', "questions_question"} <= found, sorted(found)
    targets = [str(tmp_path / "backups"), f"s3://{elsewhere}/ava"]
    for target in targets:
        made(seeded, target)
    for target in targets:
        own.destroy()

        done = restored(seeded, target)

        assert done.returncode == 0, done.stderr
        print(done.stdout)
        assert own.rows() == rows
        own.migrate()
        seeded.assert_sound()
        assert own.objects() == objects
        with own.inside():
            assert [_without_links(cast.client.get("/v1/questions").json()) for cast, _ in seeded.tenants] == [
                _without_links(each) for each in questions
            ]
            assert answered(cast, video_id, llm) == RIGHT


def _without_links(listed: object) -> object:
    """Return a listing without addresses, which are signed again."""
    text = json.dumps(listed)
    return [part for part in text.split('"') if "http" not in part]


def test_a_backup_is_checked_and_comes_back(seeded: Seeded, tmp_path: Path) -> None:
    own, target = seeded.own, str(tmp_path / "backups")
    objects = own.objects()
    name = made(seeded, target)
    before = sorted(path for path in (tmp_path / "backups" / "objects").rglob("*") if path.is_file())
    refused = restored(seeded, target)
    assert refused.returncode == 1
    assert "the database has 2 tenants; --replace deletes them" in refused.stderr
    own.destroy()

    wrong = restored(seeded, target, AVA_KEY_PEPPERS="1:other")
    assert "AVA_KEY_PEPPERS and AVA_ENCRYPTION_KEYS differ" in wrong.stderr
    older = restored(seeded, target, AVA_VERSION="0.9.0")
    assert f"is of version {VERSION}" in older.stderr
    assert restored(seeded, target).returncode == 0

    own.migrate()
    seeded.assert_sound()
    assert own.objects() == objects
    # The next backup copies nothing that is there, and old ones go.
    newer = made(seeded, target, "--keep", "1")
    assert backup.names(Folder(tmp_path / "backups")) == [newer]
    assert newer != name
    after = sorted(path for path in (tmp_path / "backups" / "objects").rglob("*") if path.is_file())
    assert after == before
    assert all(path.stat().st_mode & 0o077 == 0 for path in after)


def test_damage_is_found_before_anything_is_replaced(seeded: Seeded, tmp_path: Path) -> None:
    target = tmp_path / "backups"
    name = made(seeded, str(target))
    objects = seeded.own.objects()
    for victim, words in (
        (target / name / backup.DUMP, "damaged"),
        (next(path for path in (target / "objects").rglob("*") if path.is_file()), "damaged or missing objects"),
    ):
        content = victim.read_bytes()
        victim.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        done = restored(seeded, str(target), "--replace")
        assert done.returncode == 1
        assert words in done.stderr
        assert words in seeded.own.backups("verify", str(target)).stderr
        victim.write_bytes(content)
    assert seeded.own.objects() == objects
    seeded.assert_sound()
    (target / name / backup.MANIFEST).unlink()
    assert "there is no backup" in restored(seeded, str(target), "--replace").stderr


def test_a_bucket_and_a_folder_hold_the_same_names(elsewhere: str, tmp_path: Path) -> None:
    places: list[Place] = [Folder(tmp_path / "place"), Bucket(s3(), elsewhere, "deep/")]
    for place in places:
        for name in ("a/one", "a/two", "b"):
            place.put(name, io.BytesIO(name.encode()))
        assert list(place.names()) == [("a/one", 5), ("a/two", 5), ("b", 1)]
        assert list(place.names("a/")) == [("a/one", 5), ("a/two", 5)]
        assert place.open("a/two").read() == b"a/two"
        place.delete("a/one")
        with pytest.raises(FileNotFoundError):
            place.open("a/one").read()
        assert list(place.names("a/")) == [("a/two", 5)]
