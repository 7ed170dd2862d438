"""Database, broker and object storage: across hosts they are spoken to by TLS whose certificate is verified.

Data of every tenant and the passwords of the roles cross these connections, so a process that would send them in the
clear, or to whoever answers, does not start. AVA_PLAIN_PEERS names the hosts for which that is right: the containers of
one host's own network.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.core.exceptions import ImproperlyConfigured

VERIFIED_MODES = frozenset({"verify-full", "verify-ca"})
"""Values of sslmode with which libpq checks who signed the server's certificate."""
_CHECKED = frozenset({"required", "CERT_REQUIRED"})
_HINT = "or name the host in AVA_PLAIN_PEERS if the way to it never leaves this host"


def require_verified(databases: Mapping[str, Mapping[str, Any]], *, redis: str, storage: str) -> None:
    """Check every peer. redis and storage: their URLs; storage is "" for that of AWS, which is https.

    Raises ImproperlyConfigured with the name of the setting.
    """
    plain = {host.strip().lower() for host in os.environ.get("AVA_PLAIN_PEERS", "").split(",")}
    faults = [*_database_faults(databases, plain), *_redis_faults(redis, plain), *_storage_faults(storage, plain)]
    if faults:
        raise ImproperlyConfigured("; ".join(sorted(set(faults))))


def _database_faults(databases: Mapping[str, Mapping[str, Any]], plain: Collection[str]) -> Iterable[str]:
    for database in databases.values():
        host, options = str(database["HOST"]), database["OPTIONS"]
        system_roots = "system" in (options.get("sslrootcert"), os.environ.get("PGSSLROOTCERT"))
        mode = options.get("sslmode") or os.environ.get("PGSSLMODE") or ("verify-full" if system_roots else "prefer")
        if mode not in VERIFIED_MODES and not _is_near(host, plain):
            yield f"PostgreSQL on {host} is spoken to with sslmode={mode}: use verify-full with sslrootcert, {_HINT}"


def _redis_faults(url: str, plain: Collection[str]) -> Iterable[str]:
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    checked = query.get("ssl_cert_reqs", [""])[0] in _CHECKED
    named = query.get("ssl_check_hostname", ["true"])[0].lower() not in ("false", "0", "no")
    if not (parts.scheme == "rediss" and checked and named) and not _is_near(parts.hostname or "", plain):
        yield f"REDIS_URL leads to {parts.hostname}: use rediss:// with ssl_cert_reqs=required, {_HINT}"


def _storage_faults(url: str, plain: Collection[str]) -> Iterable[str]:
    host = urlsplit(url).hostname or ""
    if url and not url.startswith("https://") and not _is_near(host, plain):
        yield f"S3_ENDPOINT_URL leads to {host}: use https://, {_HINT}"


def _is_near(host: str, plain: Collection[str]) -> bool:
    """Whether a host is this one, or is named as reached without leaving it. A path is that of a socket."""
    host = host.lower()
    if host in plain or host in ("", "localhost") or host.endswith(".localhost") or host.startswith("/"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
