"""Database, broker and storage on another host: verified TLS, or no start. The servers here end real TLS."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
import redis
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.core.exceptions import ImproperlyConfigured

from backend import env, peers

ROOT = Path(__file__).resolve().parents[2]
VERIFIED = "rediss://:p@cache.example:6379/0?ssl_cert_reqs=required"
SSL_REQUEST = 8
"""Length of the message with which libpq asks for TLS."""


def refused(
    monkeypatch: pytest.MonkeyPatch, *, url: str = "postgresql://u:p@127.0.0.1/ava", redis: str = VERIFIED,
    storage: str = "", plain: str = "", **variables: str,
) -> str:  # fmt: skip
    """What is wrong with these peers; "" if nothing is."""
    for name in ("PGSSLMODE", "PGSSLROOTCERT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AVA_PLAIN_PEERS", plain)
    monkeypatch.setenv("SOME_URL", url)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    try:
        peers.require_verified({"default": env.database("SOME_URL")}, redis=redis, storage=storage)
    except ImproperlyConfigured as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("query", "variables", "allowed"),
    [
        ("", {}, False),
        ("?sslmode=require", {}, False),
        ("", {"PGSSLMODE": "require"}, False),
        ("?sslmode=prefer", {"PGSSLMODE": "verify-full"}, False),
        ("?sslmode=verify-full", {}, True),
        ("?sslmode=verify-ca", {}, True),
        ("", {"PGSSLMODE": "verify-full"}, True),
        ("?sslrootcert=system", {}, True),
    ],
)
def test_a_database_on_another_host_is_verified(
    monkeypatch: pytest.MonkeyPatch, query: str, variables: dict[str, str], allowed: bool
) -> None:
    said = refused(monkeypatch, url=f"postgresql://u:secret@db.example/ava{query}", **variables)

    assert (said == "") == allowed
    assert allowed or said.startswith("PostgreSQL on db.example is spoken to with sslmode=")
    assert "secret" not in said


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("redis://cache.example:6379/0", False),
        ("rediss://cache.example:6379/0", False),
        ("rediss://cache.example:6379/0?ssl_cert_reqs=none", False),
        (f"{VERIFIED}&ssl_check_hostname=false", False),
        (VERIFIED, True),
        ("redis://127.0.0.1:6379/0", True),
    ],
)
def test_a_broker_on_another_host_is_verified(monkeypatch: pytest.MonkeyPatch, url: str, allowed: bool) -> None:
    assert (refused(monkeypatch, redis=url) == "") == allowed


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("", True),
        ("https://s3.example", True),
        ("http://s3.example:8333", False),
        ("http://10.0.0.7:8333", False),
        ("http://s3.localhost:8333", True),
        ("http://[::1]:8333", True),
    ],
)
def test_storage_on_another_host_is_reached_by_https(monkeypatch: pytest.MonkeyPatch, url: str, allowed: bool) -> None:
    assert (refused(monkeypatch, storage=url) == "") == allowed


def test_the_hosts_of_a_hosts_own_network_are_named_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "url": "postgresql://u:p@pooler:6432/ava", "redis": "redis://valkey:6379/0", "storage": "http://s3:8333",
    }  # fmt: skip

    assert refused(monkeypatch, **given, plain="pooler, valkey,s3") == ""
    assert "REDIS_URL leads to valkey" in refused(monkeypatch, **given, plain="pooler,s3")


def test_a_process_with_an_unverified_peer_does_not_start() -> None:
    given = {**os.environ, "DATABASE_URL": "postgresql://app_rw:secret@db.example/ava?sslmode=require"}
    given.pop("AVA_PLAIN_PEERS", None)
    started = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=ROOT, env=given, capture_output=True, text=True, timeout=120
    )

    assert started.returncode == 1
    assert "PostgreSQL on db.example is spoken to with sslmode=require: use verify-full" in started.stderr
    assert "secret" not in started.stderr


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """Make a certificate for a host name that signs itself, as the database's image does, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "postgres")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / f"{name}.crt", folder / f"{name}.key"
    paths[0].write_bytes(made.public_bytes(Encoding.PEM))
    paths[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return paths


@contextmanager
def listening(files: tuple[Path, Path], *, postgres: bool) -> Iterator[tuple[int, list[bytes]]]:
    """End TLS on a port, and keep the first bytes of each client that went on after the handshake."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    heard: list[bytes] = []
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                plain, _ = server.accept()
            except OSError:
                return
            with suppress(OSError), plain:
                if postgres:
                    plain.recv(SSL_REQUEST)
                    plain.sendall(b"S")
                with context.wrap_socket(plain, server_side=True) as stream:
                    heard.append(stream.recv(4096))

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield server.getsockname()[1], heard
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()


@pytest.mark.parametrize(
    ("served", "trusted", "goes_on"),
    [("localhost", "localhost", True), ("other.example", "other.example", False), ("localhost", "mine", False)],
    ids=["its own certificate", "of another name", "of another issuer"],
)
def test_what_is_sent_to_a_database_and_a_broker_reaches_only_the_one_that_was_meant(
    tmp_path: Path, served: str, trusted: str, goes_on: bool
) -> None:
    files = certificate(tmp_path, served)
    root = files[0] if trusted == served else certificate(tmp_path, trusted)[0]

    with listening(files, postgres=True) as (port, heard):
        options = f"user=app_rw password=hush dbname=ava sslmode=verify-full sslrootcert={root} gssencmode=disable"
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(f"host=localhost hostaddr=127.0.0.1 port={port} {options}", connect_timeout=10)
    assert any(b"app_rw" in first for first in heard) == goes_on

    with listening(files, postgres=False) as (port, heard):
        url = f"rediss://:hush@localhost:{port}/0?ssl_cert_reqs=required&ssl_ca_certs={root}"
        with redis.Redis.from_url(url, socket_timeout=10) as client, pytest.raises(redis.RedisError):
            client.ping()
    assert any(b"hush" in first or b"HELLO" in first for first in heard) == goes_on
