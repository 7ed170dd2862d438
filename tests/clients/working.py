"""A worker for the clients' tests: what a test key asks for is done by script, so it needs no model."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections

from tests.conftest import Cast
from tests.tasks.world import WITHOUT_WEBHOOKS, run_due


@contextmanager
def working() -> Iterator[None]:
    """Run the jobs that come up meanwhile."""
    over = threading.Event()

    def work() -> None:
        while not over.wait(0.2):
            run_due(classes=WITHOUT_WEBHOOKS)
        connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def key_for_tests(acme: Cast) -> str:
    """Make a test key of a tenant, and return it."""
    made = acme.client.post("/v1/api-keys", {"name": "ci", "scopes": ["*"], "mode": "test"})
    assert made.status_code == 201, made.content
    return str(made.json()["key"])
