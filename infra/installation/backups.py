"""Backups of one host: the program of the database's image, with a folder of the host or another bucket."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path

from infra.installation.composing import Installation, InstallFailed

INSIDE = "/backup"


def target_of(own: Installation, given: str) -> str:
    """Return where backups go: the folder or s3:// URL that is given, or AVA_BACKUP_TO. Raises InstallFailed."""
    target = given or own.values.get("AVA_BACKUP_TO", "")
    if not target:
        raise InstallFailed("say where: --to FOLDER or --to s3://bucket/folder, or AVA_BACKUP_TO in .env")
    return target if target.startswith("s3://") else str(Path(target).resolve())


def program(own: Installation, target: str, action: str, *arguments: str) -> list[str]:
    """Return the arguments of docker compose that run the program of backups."""
    words = ["run", "--rm", "--no-deps", "-T", *storage(own)]
    if not target.startswith("s3://"):
        Path(target).mkdir(mode=0o700, parents=True, exist_ok=True)
        # Files belong to whoever runs the command.
        words += ["--user", f"{os.getuid()}:{os.getgid()}", "--volume", f"{target}:{INSIDE}"]
    return [*words, "backup", action, target if target.startswith("s3://") else INSIDE, *arguments]


def storage(own: Installation) -> list[str]:
    """Return the option by which a container reaches the host's own object storage without the proxy."""
    values = own.values
    through_proxy = values.get("S3_ENDPOINT_URL") == f"https://{values.get('S3_DOMAIN')}"
    return ["--env", "S3_ENDPOINT_URL=http://s3.localhost:8333"] if through_proxy else []


def back_up(own: Installation, target: str, *, keep: int) -> None:
    """Make a backup and delete all but the newest ones. keep: how many stay; 0 deletes none."""
    own.run(*program(own, target, "make", "--keep", str(keep)))


def newest(target: str) -> datetime | None:
    """Return when the newest backup in a folder was made, None without one. A bucket is not looked at."""
    manifests = sorted(Path(target).glob("*/manifest.json")) if not target.startswith("s3://") else []
    return datetime.fromisoformat(json.loads(manifests[-1].read_text())["made_at"]) if manifests else None


def restore(own: Installation, target: str, *arguments: str) -> None:
    """Replace database and objects by a backup, bring the schema to the running version, repeat later deletions.

    arguments: options of the program of backups. Raises InstallFailed; then nothing is left running but the servers of
    data.
    """
    own.run("stop")
    own.run("up", "--detach", "--wait", "postgres", "valkey", "s3")
    # Roles are the server's, so no dump has them.
    own.run("run", "--rm", "--no-deps", "provision")
    own.run(*program(own, target, "restore", *arguments))
    own.run("run", "--rm", "--no-deps", "provision")
    own.run("run", "--rm", "--no-deps", "migrate")
    # Before customers are let in. What is deleted by jobs is hidden from here on.
    own.run("up", "--detach", "--wait", "pooler")
    own.run("run", "--rm", "--no-deps", "-T", *storage(own), "api", "python", "manage.py", "replay_deletions")
    own.run("up", "--detach", "--wait", "--wait-timeout", "7200")
    for check in ("check_index", "check_ledger", "check_invariants"):
        own.run("exec", "-T", "console", "python", "manage.py", check)
    print("restored, and the checks hold")
