"""Measures the console's pages over a large installation, one JSON line each: python -m bench.console [--scale 1.0].

Starts a PostgreSQL and a Valkey of its own, writes the load of bench.seed_load, and opens every page as an operator.
A page holds if its p95 is at most 300 ms. Exits with status 0 whether or not every page holds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.figures import Figure, at_most, show_progress
from bench.seed_load import Counts, seed
from bench.stack import NOT_USED
from infra.local.stack import Stack

LIMIT_MS = 300
REPEATS = 20


def pages() -> dict[str, str]:
    """Return the address of each page by its name. Spans of the overview are pages of their own."""
    from backend.billing.models import UsageEvent
    from backend.console.site import site
    from backend.library.models import Video
    from backend.questions.models import Question
    from backend.tenancy.models import Tenant

    found = {f"overview_{days}_days": f"/console/?days={days}" for days in (1, 7, 30, 90)}
    for model in site._registry:
        name = f"{model._meta.app_label}/{model._meta.model_name}"
        found[f"list {name}"] = f"/console/{name}/"
    biggest = Tenant.objects.using("console").get(slug="tenant-1")
    video: Any = Video.unscoped.using("console").order_by("-id").first()
    question: Any = Question.unscoped.using("console").order_by("-id").first()
    event: Any = UsageEvent.unscoped.using("console").order_by("-occurred_at").first()
    return found | {
        "tenant": f"/console/tenancy/tenant/{biggest.id}/change/",
        "ledger of a tenant": f"/console/billing/usageevent/?tenant={event.tenant_id}",
        "questions of a tenant": f"/console/questions/question/?tenant={question.tenant_id}",
        "video": f"/console/library/video/{video.id}/change/",
        "question": f"/console/questions/question/{question.id}/change/",
        "find": f"/console/find/?q={video.id}",
    }


def measure(repeats: int) -> Iterator[Figure]:
    """Yield the p95 of each page in milliseconds, with the time of the first view."""
    client = _operator()
    for name, address in pages().items():
        first = _view(client, address)
        times = sorted([_view(client, address) for _ in range(repeats)])
        p95 = statistics.quantiles(times, n=20)[-1] if len(times) > 1 else times[0]
        reference = f"{repeats} views after one that took {first:.0f} ms"
        yield at_most(f"console: {name}", p95, LIMIT_MS, reference)


def _view(client: Any, address: str) -> float:
    began = time.perf_counter()
    reply = client.get(address)
    if reply.status_code not in (200, 302):
        raise RuntimeError(f"{address} answered {reply.status_code}")
    return 1000 * (time.perf_counter() - began)


def _operator() -> Any:
    """Return the browser of an operator who has opened the content of the tenants whose pages are measured."""
    from datetime import timedelta

    from django.test import Client
    from django.utils import timezone

    from backend.library.models import Video
    from backend.people.models import Person
    from backend.questions.models import Question
    from backend.staff import services, sign_in
    from backend.staff.models import ContentAccess, Role

    services.appoint(email="bench@example.org", role=Role.OPERATOR)
    person = Person.objects.using("staff").get(email="bench@example.org")
    for model in (Video, Question):
        row: Any = model.unscoped.using("console").order_by("-id").first()
        ContentAccess.objects.create(
            person_id=person.id, tenant_id=row.tenant_id, reason="bench", expires_at=timezone.now() + timedelta(hours=8)
        )
    client = Client()
    client.force_login(person, "backend.staff.sign_in.StaffBackend")
    session = client.session
    session[sign_in.VERIFIED] = time.time()
    session.save()
    return client


@contextmanager
def console(scale: float) -> Iterator[Counts]:
    """Yield in the process of a console over a database with the load."""
    root = Path(tempfile.mkdtemp(prefix="ava-bench-"))
    # An unprivileged server process must be able to enter it.
    root.chmod(0o755)
    try:
        with Stack(root, frozenset({"postgres", "valkey"}), durable=False, environ={**os.environ}) as stack:
            settings = NOT_USED | stack.env() | {"DJANGO_SETTINGS_MODULE": "backend.settings"}
            for command in (["provision"], ["migrate", "--noinput", "--database", "owner", "-v0"]):
                environment = {**os.environ, **settings}
                subprocess.run([sys.executable, "manage.py", *command], check=True, env=environment, stdout=2)
            with patch.dict(os.environ, {**settings, "AVA_PROCESS": "console"}):
                counts = seed(settings["DATABASE_SUPERUSER_URL"], scale)
                import django

                django.setup()
                yield counts
    finally:
        shutil.rmtree(root, ignore_errors=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    options = parser.parse_args(arguments)
    with console(options.scale) as counts:
        show_progress(str(counts))
        from django.test import override_settings

        with override_settings(ALLOWED_HOSTS=["testserver"]):
            for figure in measure(options.repeats):
                print(figure.line(), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
