"""The stack that tests run on: real servers, one database per test process, two tenants that must not meet.

The controller starts PostgreSQL, Valkey and the S3 server once, provisions and migrates a template database; each xdist
worker clones it. Tests connect as the restricted role, so row-level security is on everywhere.
"""

from __future__ import annotations

import functools
import gc
import io
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import psycopg
import pytest
from hypothesis import settings

# Test processes run side by side, and the threads of a small model's matrices wait for each other by spinning: with
# one thread the tests of models take half the CPU.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A limit on the time of an example fails on a busy machine.
settings.register_profile("any_machine", deadline=None)
settings.load_profile("any_machine")

ROLE_VARIABLES = (
    "DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_DISPATCH_URL", "DATABASE_CONSOLE_URL", "DATABASE_LISTEN_URL",
    "DATABASE_PEOPLE_URL", "DATABASE_STAFF_URL",
)  # fmt: skip
TEMPLATE = "ava_template"
TEMPLATE_LOG = "AVA_TEST_TEMPLATE_LOG"
"""Variable that names the file of what the making of the template says; its neighbours .done and .failed end it."""
TEMPLATE_S = 600
# The only tests that need no server; a run of these alone starts none.
WITHOUT_STACK = ("tests/engine", "tests/infra", "tests/bench")


def _with_database(url: str, database: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


def _needs_stack(config: pytest.Config) -> bool:
    arguments = [argument.split("::")[0] for argument in config.args]
    root = config.rootpath
    return not all(
        any(str(Path(argument).resolve()).startswith(str(root / folder)) for folder in WITHOUT_STACK)
        for argument in arguments
    )


def pytest_configure(config: pytest.Config) -> None:
    # What is imported and collected stays: to look for cycles in it again and again would take a quarter of that time.
    gc.set_threshold(50_000, 20, 50)
    if not _needs_stack(config):
        return
    if not hasattr(config, "workerinput"):
        _start_stack(config)
    _name_own_database(os.environ.get("PYTEST_XDIST_WORKER", "main"))
    import django
    from django.conf import settings
    from django.contrib.auth.hashers import PBKDF2PasswordHasher

    django.setup()
    # Half a second of hashing for each password of each test is time in which nothing is tested.
    PBKDF2PasswordHasher.iterations = 1_000
    # Every client of a test loads the middleware, and would list all static files again.
    settings.WHITENOISE_AUTOREFRESH = True


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.freeze()
    # Only now, because the template is made while tests are collected. A controller of workers collects nothing.
    if _needs_stack(session.config):
        _clone_template()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Fast tests first: a mistake shows within a minute. Slow ones begin while others are left to run next to them."""
    slow = [item for item in items if item.get_closest_marker("slow") is not None]
    fast = [item for item in items if item.get_closest_marker("slow") is None]
    most = len(fast) * 3 // 4
    items[:] = [*fast[:most], *slow, *fast[most:]]


def _start_stack(config: pytest.Config) -> None:
    from infra.local.stack import Stack

    root = Path(tempfile.mkdtemp(prefix="ava-test-"))
    # An unprivileged server process must be able to enter it.
    root.chmod(0o755)
    stack = Stack(
        root, frozenset({"postgres", "pgbouncer", "valkey", "seaweedfs"}), durable=False, environ={**os.environ}
    )
    stack.start()

    def stop() -> None:
        stack.stop()
        shutil.rmtree(root, ignore_errors=True)

    config.add_cleanup(stop)
    os.environ.update(stack.env())
    os.environ["AVA_WEBHOOK_ALLOW_PRIVATE"] = "true"
    # Only tests of playback watch what they upload.
    os.environ["AVA_KEEP_RENDITIONS"] = "false"
    # All tests come from one address.
    os.environ["AVA_ADDRESS_RATE_PER_MINUTE"] = "1000000"
    os.environ["DJANGO_SETTINGS_MODULE"] = "backend.settings"
    os.environ["REASONER_URL"] = "http://127.0.0.1:9/v1"
    os.environ["REASONER_MODEL"] = "none"
    for variable in ROLE_VARIABLES:
        os.environ[variable] = _with_database(os.environ[variable], TEMPLATE)
    os.environ[TEMPLATE_LOG] = str(root / "template.log")
    making = subprocess.Popen(
        [sys.executable, "-m", "tests.template", os.environ[TEMPLATE_LOG]],
        cwd=Path(__file__).parents[1],
        start_new_session=True,
    )

    def give_up() -> None:
        with suppress(ProcessLookupError):  # it ended, as it should
            os.killpg(making.pid, signal.SIGKILL)
        making.wait()

    config.add_cleanup(give_up)


def _name_own_database(worker: str) -> None:
    for variable in ROLE_VARIABLES:
        os.environ[variable] = _with_database(os.environ[variable], f"ava_test_{worker}")
    number = int("".join(filter(str.isdigit, worker)) or 0)
    redis = urlsplit(os.environ["REDIS_URL"])
    os.environ["REDIS_URL"] = urlunsplit(redis._replace(path=f"/{number + 1}"))


def _clone_template() -> None:
    """Make this process's own database as soon as the template is there."""
    log = Path(os.environ[TEMPLATE_LOG])
    deadline = time.monotonic() + TEMPLATE_S
    while not log.with_suffix(".done").exists():
        if time.monotonic() > deadline or log.with_suffix(".failed").exists():
            raise RuntimeError(f"the database of the tests was not made:\n{log.read_text()[-3000:]}")
        time.sleep(0.1)
    database = urlsplit(os.environ["DATABASE_URL"]).path.lstrip("/")
    with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"], autocommit=True) as server:
        # Cloning needs the template to itself; workers start at once.
        server.execute("SELECT pg_advisory_lock(42)")
        server.execute(f'CREATE DATABASE "{database}" TEMPLATE "{TEMPLATE}" OWNER app_owner')


@dataclass(slots=True)
class Cast:
    """A tenant of the tests: acme owns things, globex must see none of them."""

    tenant_id: UUID
    slug: str
    key: str
    key_id: UUID

    @property
    def client(self) -> Any:
        from tests.contract import ContractClient

        client = ContractClient(raise_request_exception=False)
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {self.key}")
        return client

    @contextmanager
    def scope(self) -> Iterator[None]:
        from backend.tenancy.context import tenant_scope

        with tenant_scope(self.tenant_id):
            yield


def make_tenant(slug: str) -> Cast:
    from uuid6 import uuid7

    from backend.tenancy.context import tenant_scope
    from backend.tenancy.creation import create_tenant
    from backend.tenancy.services import issue_api_key

    unique = f"{slug}-{uuid7().hex[-10:]}"
    tenant = create_tenant(name=slug.title(), slug=unique)
    with tenant_scope(tenant.id):
        key, secret = issue_api_key(name="test", scopes=["*"])
    return Cast(tenant.id, unique, secret, key.id)


@pytest.fixture
def database() -> Iterator[None]:
    """Empty tables before and after, connections checked for the restricted role."""
    from django.db import connection, connections

    for kept in connections.all(initialized_only=True):
        # A test before this one may have restarted the server or ended its connections.
        if kept.connection is not None and not kept.is_usable():
            kept.close()
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user")
        assert cursor.fetchone() == ("app_rw", False, False), "tests run as the restricted role or prove nothing"
    _rows_of_migrations()
    yield
    for used in connections.all(initialized_only=True):
        # A new connection costs as much as a dozen statements.
        if used.connection is not None and used.connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            used.close()
    _empty()


def _empty() -> None:
    """Delete all rows. To truncate would make new files for every index of every partition, after each test."""
    try:
        _delete_rows(_cleaner())
    except psycopg.OperationalError:
        # A test restarted the server or ended its connections.
        _cleaner.cache_clear()
        _delete_rows(_cleaner())


@functools.cache
def _cleaner() -> psycopg.Connection[Any]:
    """A connection for the whole run: a new one would read the descriptions of all tables again after each test.

    It prepares no statement, because tests change tables.
    """
    return psycopg.connect(superuser_url(), autocommit=True, prepare_threshold=None)


def _delete_rows(server: psycopg.Connection[Any]) -> None:
    with server.transaction():
        written = server.execute(
            "SELECT string_agg(format('DELETE FROM %%s', oid::regclass), '; ') FROM pg_class WHERE relkind = 'r' "
            "AND relnamespace IN ('public'::regnamespace, 'ekg'::regnamespace) AND pg_relation_size(oid) > 0 "
            "AND relname <> ALL(%s)",
            [NOT_EMPTIED],
        ).fetchone()
        assert written is not None
        # Without triggers, because the order of the tables is not that of their references.
        server.execute("SET LOCAL session_replication_role = replica")
        if written[0]:
            server.execute(written[0])
        changed = [(table, rows) for table, rows in _rows_of_migrations().items() if _rows(server, table) != rows]
        for table, rows in changed:
            server.execute(f"DELETE FROM {table}")
            server.execute(f"INSERT INTO {table} SELECT * FROM jsonb_populate_recordset(NULL::{table}, %s)", [rows])


# Prices, plans and sellers that migrations write. A test may add to them, and the next test finds them as they were.
WRITTEN_BY_MIGRATIONS = (
    "billing_pricebook", "billing_price", "billing_plan", "billing_planversion", "billing_legalentity",
)  # fmt: skip

NOT_EMPTIED = ["django_migrations", "django_content_type", "auth_permission", *WRITTEN_BY_MIGRATIONS]


@functools.cache
def _rows_of_migrations() -> dict[str, str]:
    with psycopg.connect(superuser_url()) as server:
        return {table: _rows(server, table) for table in WRITTEN_BY_MIGRATIONS}


def _rows(server: psycopg.Connection[Any], table: str) -> str:
    found = server.execute(
        f"SELECT coalesce(jsonb_agg(row ORDER BY row::text), '[]')::text FROM {table} row"
    ).fetchone()
    assert found is not None
    return str(found[0])


def superuser_url() -> str:
    return _with_database(os.environ["DATABASE_SUPERUSER_URL"], urlsplit(os.environ["DATABASE_URL"]).path.lstrip("/"))


@pytest.fixture
def acme(database: None) -> Cast:
    return make_tenant("acme")


@pytest.fixture
def globex(database: None) -> Cast:
    return make_tenant("globex")


@pytest.fixture
def lines() -> Iterator[Any]:
    """Return the JSON lines that the root logger has written so far."""
    from backend.observability.json_lines import JsonLines

    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logging.getLogger().addHandler(handler)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logging.getLogger().removeHandler(handler)
