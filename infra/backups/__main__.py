"""ava-backup: make, list, check and restore backups of one installation. `ava-admin` starts it."""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import time
from collections.abc import Sequence

from boto3.exceptions import S3UploadFailedError
from botocore.exceptions import BotoCoreError, ClientError

from infra.backups import backup, database
from infra.backups.places import Bucket, Place, PlaceError, source_bucket, target_place

NEEDED = ("AVA_KEY_PEPPERS", "AVA_ENCRYPTION_KEYS")
"""Secrets without which the rows of a backup are of little use."""


class Refused(Exception):
    """The command does nothing; the message says why and what to do."""


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="ava-backup", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    for name, text in {
        "make": "back up the database and the objects",
        "list": "list the backups",
        "verify": "read a backup and compare it with its manifest",
        "restore": "replace database and objects by a backup",
    }.items():
        action = actions.add_parser(name, help=text, description=text)
        action.add_argument("target", help="a folder, or s3://bucket/folder")
        if name in ("verify", "restore"):
            action.add_argument("--name", default="", help="name of the backup; by default the newest one")
        if name == "make":
            action.add_argument("--keep", type=int, default=0, help="delete all but so many backups afterwards")
        if name == "restore":
            action.add_argument("--replace", action="store_true", help="replace an installation that has tenants")
            action.add_argument("--other-secrets", action="store_true", help="restore although the secrets differ")
    return parser.parse_args(arguments)


def secrets_digest() -> str:
    """Return a digest of the secrets that the rows need. The secrets are random, so it says nothing about them."""
    return hashlib.sha256("\n".join(os.environ.get(name, "") for name in NEEDED).encode()).hexdigest()


def _make(place: Place, bucket: Bucket, keep: int) -> None:
    began = time.monotonic()
    name = backup.make(place, bucket, version=os.environ["AVA_VERSION"], secrets=secrets_digest())
    found = backup.verify(place, name, contents=False)
    print(f"backup {name}: version {found.version}, database {_size(found.dump.size)}, ", end="")
    print(f"{found.object_count} objects {_size(found.object_bytes)}, {_minutes(began)}")
    if keep > 0:
        for old in backup.prune(place, keep):
            print(f"deleted {old}")


def _restore(place: Place, bucket: Bucket, options: argparse.Namespace) -> None:
    began, name = time.monotonic(), _chosen(place, options.name)
    found = backup.manifest(place, name)
    if _newer(found.version, os.environ["AVA_VERSION"]):
        raise Refused(f"{name} is of version {found.version}; install this version or a newer one first")
    if found.secrets != secrets_digest() and not options.other_secrets:
        raise Refused(
            f"{' and '.join(NEEDED)} differ from those of {name}: put the .env of that installation here first. "
            "With --other-secrets its API keys and sealed secrets are lost"
        )
    bucket.make()
    if not options.replace:
        if tenants := database.tenants():
            raise Refused(f"the database has {tenants} tenants; --replace deletes them")
        if any(True for _ in bucket.names("t/")):
            raise Refused("the bucket holds objects of tenants; --replace restores next to them")
    backup.restore(place, bucket, name)
    print(f"restored {name}: version {found.version}, {found.object_count} objects, {_minutes(began)}")


def _chosen(place: Place, name: str) -> str:
    known = backup.names(place)
    if not known:
        raise Refused("there is no backup")
    return name or known[-1]


def _newer(one: str, other: str) -> bool:
    return [int(part) for part in one.split(".")] > [int(part) for part in other.split(".")]


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB"


def _minutes(began: float) -> str:
    return f"{(time.monotonic() - began) / 60:.1f} minutes"


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command; exit status 1 with the reason if it cannot be done."""
    options = parsed(arguments)
    try:
        place = target_place(options.target, os.environ)
        if options.action == "make":
            _make(place, source_bucket(os.environ), options.keep)
        elif options.action == "list":
            for name in backup.names(place):
                found = backup.manifest(place, name)
                print(f"{name} version {found.version} {_size(found.dump.size + found.object_bytes)}")
        elif options.action == "verify":
            name = _chosen(place, options.name)
            backup.verify(place, name)
            print(f"{name} is whole")
        else:
            _restore(place, source_bucket(os.environ), options)
    except (Refused, PlaceError, backup.BackupDamaged, database.DatabaseFailed) as error:
        print(f"ava-backup: {error}", file=sys.stderr)
        return 1
    except (BotoCoreError, ClientError, S3UploadFailedError) as error:
        print(f"ava-backup: object storage: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
