"""The Secrets that the chart reads: new passwords, keys and certificates, and what others have made.

Standard library and the program openssl only: nothing is installed where this runs.
"""

from __future__ import annotations

import secrets
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_KEYS = ("AVA_SECRET_KEY", "AVA_CONSOLE_SECRET_KEY", "AVA_CACHE_SALT_KEY", "MODEL_API_KEY")
_SIGNER_KEYS = tuple(f"AVA_SIGNER_KEY_{name}" for name in ("PROBE", "RENDER", "FETCH", "INDEX", "QUERY"))
_NUMBERED = ("AVA_KEY_PEPPERS", "AVA_ENCRYPTION_KEYS")
_POOLED = {
    "DATABASE_URL": "app_rw",
    "DATABASE_DISPATCH_URL": "app_dispatch",
    "DATABASE_CONSOLE_URL": "app_admin_ro",
    "DATABASE_PEOPLE_URL": "app_people",
    "DATABASE_STAFF_URL": "app_console",
}
"""Roles that reach PostgreSQL through the pooler."""
_GIVEN = ("REDIS_URL",)
_MAY_BE_GIVEN = ("S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY", "REASONER_API_KEY", "DESCRIBER_API_KEY")
_DAYS = "3650"


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key as PEM."""

    certificate: str
    key: str


def database_secrets(superuser_url: str, release: str, database: str) -> dict[str, str]:
    """Return the URLs of all roles, with new passwords. superuser_url: of the server, with any database."""
    server = urlsplit(superuser_url)
    address = f"{server.hostname}:{server.port or 5432}"
    made = {
        variable: f"postgresql://{role}:{secrets.token_hex(24)}@{release}-pooler:6432/{database}"
        for variable, role in _POOLED.items()
    }
    # Migrations reach PostgreSQL itself.
    owner = f"postgresql://app_owner:{secrets.token_hex(24)}@{address}/{database}"
    return {**made, "DATABASE_OWNER_URL": owner, "DATABASE_SUPERUSER_URL": superuser_url}


def authority(folder: Path) -> Certificate:
    """Return a new certificate authority."""
    return _made(folder, ["-subj", "/CN=AVA Cloud", "-addext", "keyUsage=critical,keyCertSign,cRLSign"])


def signed(folder: Path, names: Sequence[str]) -> Certificate:
    """Return a certificate for a server's names, signed by the authority that is in the folder."""
    alternative = ",".join(f"DNS:{name}" for name in names)
    options = ["-subj", f"/CN={names[0]}", "-addext", f"subjectAltName={alternative}"]
    options += ["-addext", "basicConstraints=critical,CA:FALSE"]
    return _made(folder, [*options, "-CA", str(folder / "ca.crt"), "-CAkey", str(folder / "ca.key")])


def _made(folder: Path, options: Sequence[str]) -> Certificate:
    files = folder / "new.crt", folder / "new.key"
    line = ["openssl", "req", "-x509", "-newkey", "rsa:3072", "-nodes", "-days", _DAYS]
    line += ["-out", str(files[0]), "-keyout", str(files[1]), *options]
    subprocess.run(line, check=True, capture_output=True)
    return Certificate(files[0].read_text(), files[1].read_text())


def manifest(name: str, values: Mapping[str, str], kind: str = "Opaque") -> dict[str, Any]:
    """Return a Secret."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name},
        "type": kind,
        "stringData": dict(values),
    }


def every(
    environ: Mapping[str, str], *, release: str, database: str, ca: str, own_database: bool
) -> list[dict[str, Any]]:
    """Return all Secrets. ca: PEM of the certificates that sign the database's. Raises ValueError.

    own_database: for a database that the chart makes, with the names and passwords that it reads.
    """
    url = environ.get("DATABASE_SUPERUSER_URL", "")
    if own_database:
        url = f"postgresql://postgres:{secrets.token_hex(24)}@{release}-postgres-rw:5432/postgres"
    missing = [name for name in _GIVEN if not environ.get(name)] + ([] if url else ["DATABASE_SUPERUSER_URL"])
    if missing:
        raise ValueError(f"set {', '.join(missing)} in the environment")
    values = {name: secrets.token_hex(24) for name in (*_KEYS, *_SIGNER_KEYS)}
    values |= {name: f"1:{secrets.token_hex(24)}" for name in _NUMBERED}
    values |= {name: environ[name] for name in (*_GIVEN, *_MAY_BE_GIVEN) if environ.get(name)}
    values |= database_secrets(url, release, database)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root = authority(folder)
        for each, text in (("ca.crt", root.certificate), ("ca.key", root.key)):
            (folder / each).write_text(text)
        pooler = signed(folder, [f"{release}-pooler"])
        postgres = (
            signed(folder, [f"{release}-postgres-{kind}" for kind in ("rw", "r", "ro")]) if own_database else None
        )
    found = [
        manifest(release, values),
        manifest(f"{release}-database-ca", {"ca.crt": root.certificate + ca}),
        _tls(f"{release}-pooler-tls", pooler),
    ]
    if postgres is not None:
        account = {"username": "postgres", "password": urlsplit(url).password or ""}
        found += [
            _tls(f"{release}-postgres-tls", postgres),
            manifest(f"{release}-postgres-superuser", account, "kubernetes.io/basic-auth"),
        ]
    return found


def _tls(name: str, made: Certificate) -> dict[str, Any]:
    return manifest(name, {"tls.crt": made.certificate, "tls.key": made.key}, "kubernetes.io/tls")
