"""Run one host: start it, upgrade it, go back, back it up and restore it, look at it, ask for help."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from infra.installation import backups, support, upgrades
from infra.installation.composing import Installation, InstallFailed
from infra.release.version import PROJECT, VERSION

COMMANDS = {
    "up": "start whatever does not run, and wait until it is healthy",
    "upgrade": "back up, fetch or build this folder's version, migrate, start it, check it",
    "rollback": "start the version before again; migrations are not undone, and no row is lost",
    "backup": "back up the database and the objects to a folder or to another bucket",
    "verify": "read a backup and compare it with its manifest",
    "restore": "replace database and objects by a backup, repeat later deletions, check",
    "status": "show versions, health, queues and the newest backup",
    "support-bundle": "write a file for whoever helps you: no secrets, no customers' data",
    "compose": "run docker compose with the files of this installation, such as: compose logs --follow api",
}


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="ava-admin", description=__doc__)
    parser.add_argument("--version", action="version", version=VERSION)
    parser.add_argument("--env-file", type=Path, default=PROJECT / ".env", help="by default .env of the project")
    actions = parser.add_subparsers(dest="action", required=True, metavar="COMMAND")
    made = {name: actions.add_parser(name, help=text, description=text) for name, text in COMMANDS.items()}
    for name in ("upgrade", "backup", "verify", "restore"):
        made[name].add_argument("--to" if name in ("upgrade", "backup") else "--from", dest="target", default="",
                                help="a folder or s3://bucket/folder; by default AVA_BACKUP_TO of .env")  # fmt: skip
    for name in ("upgrade", "backup"):
        made[name].add_argument("--keep", type=int, default=7, help="backups that stay (7); 0 deletes none")
    made["upgrade"].add_argument("--without-backup", action="store_true", help="upgrade without a backup")
    made["upgrade"].add_argument("--anyway", action="store_true", help="go on although a check does not hold")
    for name in ("verify", "restore"):
        made[name].add_argument("--name", default="", help="name of the backup; by default the newest one")
    made["restore"].add_argument("--replace", action="store_true", help="replace an installation that has tenants")
    made["restore"].add_argument("--other-secrets", action="store_true", help="restore although the secrets differ")
    made["support-bundle"].add_argument("--file", type=Path, default=Path("ava-support.tar.gz"))
    made["compose"].add_argument("words", nargs=argparse.REMAINDER, help="arguments of docker compose")
    return parser.parse_args(arguments)


def carry_out(options: argparse.Namespace) -> None:
    """Carry out the command line. Raises InstallFailed."""
    own = Installation(options.env_file.resolve())
    if not own.preset:
        return
    match options.action:
        case "up":
            upgrades.start(own)
        case "upgrade":
            target = "" if options.without_backup else backups.target_of(own, options.target)
            upgrades.upgrade(own, target=target, keep=options.keep, anyway=options.anyway)
        case "rollback":
            upgrades.roll_back(own)
        case "backup":
            backups.back_up(own, backups.target_of(own, options.target), keep=options.keep)
        case "verify":
            named = ["--name", options.name] if options.name else []
            own.run(*backups.program(own, backups.target_of(own, options.target), "verify", *named))
        case "restore":
            chosen = ["--name", options.name] if options.name else []
            chosen += ["--replace"] * options.replace + ["--other-secrets"] * options.other_secrets
            backups.restore(own, backups.target_of(own, options.target), *chosen)
        case "status":
            print("\n".join(support.status(own)))
        case "support-bundle":
            support.write_bundle(own, options.file)
            print(f"{options.file}: look into it before you send it")
        case _:
            own.run(*options.words)


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command; exit status 1 with the reason if it cannot be done."""
    try:
        carry_out(parsed(arguments))
    except InstallFailed as error:
        print(f"ava-admin: {error}", file=sys.stderr)
        return 1
    return 0
