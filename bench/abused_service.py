"""A running API with a worker for fetches, an abuser and a customer, who come from different addresses."""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg

from bench.stack import NOT_USED
from infra.local import ports
from infra.local.app_processes import app_processes
from infra.local.stack import Stack

CUSTOMER, PROBE = "127.0.0.2", "127.0.0.3"
"""Addresses of the customer and of the balancer's probe; the abuser comes from 127.0.0.1."""
CROWD = 9
"""Tenants that each use what a tenant may."""
REQUESTS, SENT = 300, 100
"""Requests of one measurement that read, and that leave work behind."""
PATIENCE_S, START_S = 60.0, 300.0
_TENANTS = """
import sys
import django; django.setup()
from backend.library.models import VideoStatus
from backend.questions.models import Question, QuestionBatch
from backend.tenancy.context import tenant_scope
from backend.tenancy.creation import create_tenant
from backend.tenancy.services import issue_api_key
from tests.factories import make_video
from backend.api.public_ids import encode
for number in range(int(sys.argv[1])):
    tenant = create_tenant(name=f"crowd {number}", slug=f"crowd-{number}")
    with tenant_scope(tenant.id):
        video = make_video(indexed_until_ms=30_000)
        print(issue_api_key(name="crowd", scopes=["*"])[1], encode("vid", video.id))
for slug in ("abuser", "customer"):
    tenant = create_tenant(name=slug, slug=slug)
    with tenant_scope(tenant.id):
        videos = [make_video(indexed_until_ms=30_000) for _ in range(120)]
        batch = QuestionBatch.objects.create(tenant_id=tenant.id, total=200, status="completed")
        for position in range(200):
            Question.objects.create(
                tenant_id=tenant.id, text="What happens?", batch=batch, batch_position=position, status="succeeded",
                answer="a red car " * 2_000,
            )
        key = issue_api_key(name=slug, scopes=["*"])[1]
        print(key, encode("vid", videos[0].id), encode("bat", batch.id))
"""


@dataclass(frozen=True, slots=True)
class AbusedService:
    """The service as its abuser sees it. video_id, batch_id: a video and an answered batch of the abuser.

    customer_key, customers_video_id: of another tenant. crowd: keys and videos of further tenants. database: URL of
    PostgreSQL, past all policies. postgres_log: its log.
    """

    port: int
    key: str
    video_id: str
    batch_id: str
    customer_key: str
    customers_video_id: str
    crowd: tuple[tuple[str, str], ...]
    database: str
    postgres_log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def authorization(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    @property
    def head(self) -> str:
        """Return the headers of a request of the abuser, without the empty line that ends them."""
        return head_of(self.key)

    def connect(self, *, source: str = "", receive_buffer: int = 0) -> socket.socket:
        """Open a connection of the abuser. source: its address, "" for the abuser's own. receive_buffer: its size in
        bytes, 0 for the system's own."""
        connection = socket.socket()
        if source:
            connection.bind((source, 0))
        if receive_buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.settimeout(PATIENCE_S)
        connection.connect(("127.0.0.1", self.port))
        return connection

    def call(self, method: str, path: str, body: Any, *, key: str = "") -> Any:
        """Send a request to /v1 and return the body of the reply. key: of its tenant, "" for the abuser's.

        Raises httpx.HTTPStatusError.
        """
        headers = {"Authorization": f"Bearer {key or self.key}"}
        reply = httpx.request(method, f"{self.url}/v1{path}", json=body, headers=headers, trust_env=False)
        return reply.raise_for_status().json()

    def customers_p95(self) -> dict[str, float]:
        """Return the 95th percentiles of the customer's lists, accepted searches and accepted questions, in seconds."""
        # No worker answers here, so a search is accepted and not waited for.
        headers = {"Authorization": f"Bearer {self.customer_key}", "Prefer": "respond-async"}
        scope = {"video_ids": [self.customers_video_id]}
        return {
            "list": self.lists_p95(),
            "search": self._p95(CUSTOMER, "/v1/search", headers, {"query": "a red car", **scope}),
            "question": self._p95(CUSTOMER, "/v1/questions", headers, {"question": "Which car?", **scope}),
        }

    def lists_p95(self) -> float:
        """Return the 95th percentile of the customer's lists of videos, in seconds."""
        return self._p95(CUSTOMER, "/v1/videos?limit=20", {"Authorization": f"Bearer {self.customer_key}"})

    def healthz_p95(self) -> float:
        """Return the 95th percentile of /healthz, in seconds."""
        return self._p95(PROBE, "/healthz", {})

    def _p95(self, address: str, path: str, headers: dict[str, str], body: Any = None) -> float:
        method, count, seconds = ("GET", REQUESTS, []) if body is None else ("POST", SENT, [])
        # Below the customer's rate limit of 600 requests a minute over the whole measurement.
        transport = httpx.HTTPTransport(local_address=address)
        with httpx.Client(base_url=self.url, transport=transport, timeout=PATIENCE_S, headers=headers) as client:
            for _ in range(count):
                began = time.perf_counter()
                client.request(method, path, json=body).raise_for_status()
                seconds.append(time.perf_counter() - began)
        return statistics.quantiles(seconds, n=20)[-1]


def head_of(key: str) -> str:
    """Return the headers of a request with this key, without the empty line that ends them."""
    return f"Host: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"


@contextmanager
def abused_service(*others: str) -> Iterator[AbusedService]:
    """Yield a service that runs in a folder of its own: servers, API processes, the relay, a worker for fetches.

    others: names of further processes (infra.local.app_processes).
    """
    root = Path(tempfile.mkdtemp(prefix="ava-bench-"))
    # An unprivileged server process must be able to enter it.
    root.chmod(0o755)
    servers = frozenset({"postgres", "pgbouncer", "valkey", "seaweedfs"})
    try:
        with Stack(root, servers, durable=False, environ={**os.environ}) as stack, ExitStack() as running:
            own = {"DJANGO_SETTINGS_MODULE": "backend.settings", "AVA_SOURCE_ALLOW_PRIVATE": "true"}
            own |= {"AVA_WEBHOOK_ALLOW_PRIVATE": "true", "AVA_OIDC_ALLOW_PRIVATE": "true"}
            # No proxy stands in front, so no address connects for others.
            own |= {"FORWARDED_ALLOW_IPS": "127.0.0.250"}
            env = {**os.environ, **NOT_USED, **stack.env(), **own}
            for command in (["provision"], ["migrate", "--noinput", "--database", "owner", "-v0"]):
                subprocess.run([sys.executable, "manage.py", *command], check=True, env=env, stdout=2)
            script = [sys.executable, "-c", _TENANTS, str(CROWD)]
            made = subprocess.run(script, check=True, env=env, capture_output=True, text=True)
            (key, video_id, batch_id), (customer_key, customers_video_id, _) = (
                line.split() for line in made.stdout.splitlines()[-2:]
            )
            lines = (line.split() for line in made.stdout.splitlines()[-2 - CROWD : -2])
            crowd = tuple((own_key, video) for own_key, video in lines)
            database = stack.env()["DATABASE_SUPERUSER_URL"]
            with psycopg.connect(database, autocommit=True) as superuser:
                # Its measurements are more requests than a tenant's limit allows. All other limits are the usual ones.
                superuser.execute("UPDATE tenancy_tenant SET requests_per_minute = 6000 WHERE slug = 'customer'")
            port = ports.claim(stack.state, "api")
            for process in app_processes(port):
                if process.name in ("api", "relay", "worker-fetch", *others):
                    log = running.enter_context((root / f"{process.name}.log").open("wb"))
                    child = subprocess.Popen(process.arguments, env=process.environment(env), stdout=log, stderr=log)
                    running.callback(_stop, child)
            service = AbusedService(
                port, key, video_id, batch_id, customer_key, customers_video_id, crowd, database,
                stack.home.log("postgres"),
            )  # fmt: skip
            _wait_until_ready(service, root / "api.log")
            yield service
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _wait_until_ready(service: AbusedService, log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{service.url}/readyz", trust_env=False, timeout=PATIENCE_S).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"the API did not start:\n{log.read_text()[-3000:]}")


def _stop(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
