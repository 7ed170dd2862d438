"""`infra/ava-admin` with a docker that only records and prints: the order of its steps, the way back, what it shows."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from infra.installation import settings, upgrades
from infra.installation.composing import Installation
from infra.release.version import VERSION
from tests.infra.conftest import ROOT

FORMER = "0.9.0"
FAKE_DOCKER = """#!{python}
import json, os, sys
words = sys.argv[1:]
with open(os.environ["CALLS"], "a") as calls:
    calls.write(json.dumps({{"words": words, "version": os.environ.get("AVA_VERSION")}}) + "\\n")
if os.environ.get("FAILS") and os.environ["FAILS"] in words:
    sys.exit(1)
if words[:2] == ["compose", "version"]:
    print("2.29.1")
elif "ps" in words:
    print(json.dumps({{"Name": "ava-api-1", "State": "running", "Health": "healthy"}}))
    print(json.dumps({{"Name": "ava-migrate-1", "State": "exited", "ExitCode": 0}}))
    print(json.dumps({{"Name": "ava-relay-1", "State": "running", "Health": "unhealthy"}}))
elif "queue" in words:
    print("storage is away since 2026-11-22 20:15:00 (open, 3 tries): refused: {secret}")
    print("gpu.query: 3 wait, 1 runs\\n    1. answer  tenant tnt_1 Who stole the car?")
elif "logs" in words:
    print(open(os.environ["LOGS"]).read())
"""


class Host:
    """A host with an installation of FORMER, on whose folder lies the version of now."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.env_file = folder, folder / ".env"
        values = {"MODEL_PRESET": "embedded", "AVA_VERSION": FORMER, "AVA_KEY_PEPPERS": "1:planted-pepper-1234"}
        settings.add(self.env_file, {**values, "AVA_DIGEST_API": f"sha256:{'1' * 64}"})
        kept = Installation(self.env_file).kept(FORMER)
        kept.mkdir(parents=True)
        (kept / "compose.yaml").write_text("services: {}\n")
        (kept / "preset.env").write_text("")
        (kept / "digests.env").write_text(f"AVA_DIGEST_API=sha256:{'0' * 64}\n")
        programs = folder / "bin"
        programs.mkdir()
        (programs / "docker").write_text(FAKE_DOCKER.format(python=sys.executable, secret="planted-pepper-1234"))
        (programs / "docker").chmod(0o755)

    def admin(self, *arguments: str, fails: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(ROOT / "infra" / "ava-admin"), "--env-file", str(self.env_file), *arguments],
            env={
                "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin",
                "CALLS": str(self.folder / "calls"),
                "FAILS": fails,
                "LOGS": str(self.folder / "logs"),
            },
            capture_output=True,
            text=True,
            timeout=60,
        )

    def calls(self) -> list[tuple[str, str]]:
        """Return each call of docker compose: its words after the files, and the version that it starts."""
        found = []
        for line in (self.folder / "calls").read_text().splitlines():
            call = json.loads(line)
            words = call["words"]
            if "--env-file" in words:
                last = len(words) - words[::-1].index("--env-file") + 1
                found.append((" ".join(words[last:]), call["version"]))
        return found

    @property
    def values(self) -> dict[str, str]:
        return settings.read(self.env_file)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_an_upgrade_backs_up_migrates_and_then_starts(host: Host) -> None:
    done = host.admin("upgrade", "--anyway", "--to", str(host.folder / "backups"))

    assert done.returncode == 0, done.stderr
    calls = host.calls()
    order = ["make", "build", "provision", "migrate", "up", "check"]
    found = [word for call, _ in calls for word in order if word in call.split()]
    assert found == order
    versions = [version for _, version in calls]
    assert versions == [FORMER, *[VERSION] * (len(calls) - 1)], "the backup is of the version that still runs"
    assert all("--no-deps" in call for call, _ in calls if "provision" in call or "migrate" in call)
    assert (host.values["AVA_VERSION"], host.values["AVA_FORMER_VERSION"]) == (VERSION, FORMER)
    assert "rollback goes back to 0.9.0" in done.stdout
    assert set(settings.wanted(upgrades.table().presets["embedded"], "")) <= set(host.values), "new secrets are made"


def test_an_upgrade_without_a_backup_is_a_choice(host: Host) -> None:
    refused = host.admin("upgrade", "--anyway")
    assert refused.returncode == 1
    assert "AVA_BACKUP_TO" in refused.stderr
    assert not (host.folder / "calls").exists()
    assert host.admin("upgrade", "--anyway", "--without-backup").returncode == 0
    assert not [call for call, _ in host.calls() if "backup" in call.split()]


def test_an_upgrade_whose_migration_fails_leaves_the_version_before_running(host: Host) -> None:
    done = host.admin("upgrade", "--anyway", "--without-backup", fails="migrate")

    assert done.returncode == 1
    assert "0.9.0 goes on running" in done.stderr
    assert not [call for call, _ in host.calls() if call.startswith("up")]
    assert host.values["AVA_VERSION"] == FORMER


def test_a_version_that_does_not_become_healthy_names_the_way_back(host: Host) -> None:
    failed = host.admin("upgrade", "--anyway", "--without-backup", fails="up")
    assert failed.returncode == 1
    assert "infra/ava-admin rollback goes back to 0.9.0" in failed.stderr

    done = host.admin("rollback")

    assert done.returncode == 0, done.stderr
    call, version = host.calls()[-1]
    assert call.startswith("up ")
    assert "--no-build" in call, "the folder holds the newer code"
    assert version == FORMER
    files = json.loads((host.folder / "calls").read_text().splitlines()[-1])["words"]
    assert str(Installation(host.env_file).kept(FORMER) / "compose.yaml") in files
    assert (host.values["AVA_VERSION"], host.values["AVA_FORMER_VERSION"]) == (FORMER, "")
    assert host.values["AVA_DIGEST_API"] == f"sha256:{'0' * 64}"
    assert not [each for each, _ in host.calls()[-1:] if "migrate" in each], "the schema stays"


def test_there_is_no_way_back_before_an_upgrade(host: Host) -> None:
    done = host.admin("rollback")
    assert done.returncode == 1
    assert "no version ran before 0.9.0" in done.stderr


@pytest.mark.parametrize(
    ("running", "new", "possible"),
    [
        ("1.0.0", "1.0.0", True),
        ("1.0.0", "1.0.7", True),
        ("1.0.3", "1.1.0", True),
        ("1.0.0", "1.2.0", False),
        ("1.4.0", "2.0.0", True),
        ("1.4.0", "2.1.0", False),
        ("1.0.0", "3.0.0", False),
        ("1.1.0", "1.0.9", False),
    ],
)
def test_no_minor_version_is_left_out(running: str, new: str, *, possible: bool) -> None:
    assert (upgrades.refusal(running, new) == "") is possible


def test_a_restore_lets_nobody_in_before_later_deletions_are_repeated(host: Host) -> None:
    settings.change(host.env_file, {"AVA_VERSION": VERSION})
    done = host.admin("restore", "--from", str(host.folder / "backups"), "--replace")

    assert done.returncode == 0, done.stderr
    order = ["stop", "postgres", "provision", "restore", "migrate", "replay_deletions", "check_index", "check_ledger"]
    found = [word for call, _ in host.calls() for word in call.split() if word in order]
    assert found == [
        "stop", "postgres", "provision", "restore", "provision", "migrate", "replay_deletions", "check_index",
        "check_ledger",
    ]  # fmt: skip
    everything = [call for call, _ in host.calls()].index("up --detach --wait --wait-timeout 7200")
    assert [call for call, _ in host.calls()[:everything] if "replay_deletions" in call]
    assert "--replace" in next(call for call, _ in host.calls() if " restore " in f" {call} ")


def test_a_folder_is_mounted_and_a_bucket_is_not(host: Host) -> None:
    host.admin("backup", "--to", str(host.folder / "backups"), "--keep", "3")
    host.admin("backup", "--to", "s3://elsewhere/ava")
    folder, bucket = (call for call, _ in host.calls())
    assert f"--volume {host.folder / 'backups'}:/backup" in folder
    assert folder.endswith("backup make /backup --keep 3")
    assert "--volume" not in bucket
    assert bucket.endswith("backup make s3://elsewhere/ava --keep 7")


def test_storage_behind_the_proxy_is_reached_without_it(host: Host) -> None:
    """While a restore runs there is no proxy."""
    settings.change(host.env_file, {"S3_DOMAIN": "s3.example.com", "S3_ENDPOINT_URL": "https://s3.example.com"})
    host.admin("backup", "--to", "s3://elsewhere/ava")
    assert "--env S3_ENDPOINT_URL=http://s3.localhost:8333" in host.calls()[0][0]


def test_status_shows_what_is_sick_and_that_there_is_no_backup(host: Host) -> None:
    done = host.admin("status")
    assert "2 containers, 1 of them not healthy: ava-relay-1" in done.stdout
    assert "gpu.query: 3 wait, 1 runs" in done.stdout
    assert "THERE IS NO BACKUP" in done.stdout
    assert "stole the car" not in done.stdout


def test_a_bundle_holds_no_secret_and_nothing_of_customers(host: Host) -> None:
    planted = {
        "POSTGRES_PASSWORD": "planted-password",
        "REASONER_URL": "https://ada:planted-login@models.example.org",
        "AVA_EMAIL_URL": "smtp://planted-mail@example.org",
    }
    settings.change(host.env_file, {**planted, "REASONER_MODEL": "q"})
    own = {
        "time": "t",
        "level": "ERROR",
        "logger": "ava.jobs",
        "message": "Who stole the car?",
        "kind": "answer_question",
        "video": "vid_planted",
        "reason": "planted-password",
        "exc_info": 'Traceback\n  File "/app/jobs/leases.py", line 7, in claim\nValueError: Ada planted this',
    }
    (host.folder / "logs").write_text(
        f"api-1  | {json.dumps(own)}\n"
        "postgres-1  | ERROR:  duplicate key\npostgres-1  | DETAIL:  Key (email)=(ada@example.org) exists.\n"
        "postgres-1  | STATEMENT:  INSERT INTO people VALUES ('Ada Planted')\n"
        'proxy-1  | {"level":"error","msg":"GET /share/planted-link from 192.0.2.7","status":502}\n'
    )

    done = host.admin("support-bundle", "--file", str(host.folder / "bundle.tar.gz"))

    assert done.returncode == 0, done.stderr
    assert (host.folder / "bundle.tar.gz").stat().st_mode & 0o077 == 0
    with tarfile.open(host.folder / "bundle.tar.gz") as archive:
        parts = {name: archive.extractfile(name).read().decode() for name in archive.getnames()}  # type: ignore[union-attr]
    assert set(parts) == {"versions.txt", "settings.txt", "services.txt", "queues.txt", "logs.txt"}
    whole = "\n".join(parts.values()).lower()
    for leak in ("planted", "ada", "stole", "192.0.2.7", "vid_", "example.org"):
        assert leak not in whole, leak
    assert "AVA_VERSION=0.9.0" in parts["settings.txt"]
    assert "REASONER_MODEL=q" in parts["settings.txt"]
    assert "POSTGRES_PASSWORD is set" in parts["settings.txt"]
    assert "ava-relay-1: running (unhealthy)" in parts["services.txt"]
    assert "gpu.query: 3 wait, 1 runs" in parts["queues.txt"]
    assert '"raised_at": ["leases.py:7 claim"]' in parts["logs.txt"]
    assert '"status": 502' in parts["logs.txt"]
    assert "postgres-1  | ERROR (text left out)" in parts["logs.txt"]
