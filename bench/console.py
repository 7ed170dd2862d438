"""Measures the console's pages and GET /v1/usage over a large installation, one JSON line each.

python -m bench.console [--scale 1.0] [--only pages|usage]

Starts a PostgreSQL and a Valkey of its own, writes the load of bench.seed_load, and opens every page as an operator.
Each page is viewed with nothing kept in Redis before each view, and as it is viewed again and again. A page holds if
its p95 is at most 300 ms. Exits with status 1 if a figure misses its target.
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
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench import usage_api
from bench.figures import Figure, at_most, print_lines, show_progress
from bench.seed_load import Counts, seed
from bench.stack import NOT_USED
from infra.local.stack import Stack

LIMIT_MS = 300
REPEATS = 20


def pages() -> dict[str, str]:
    """Return the address of each page by its name. Spans of the overview are pages of their own."""
    from backend.audit.models import AuditEvent
    from backend.billing.models import CreditGrant, Invoice, Plan, UsageEvent
    from backend.console.site import site
    from backend.jobs.models import Job
    from backend.library.models import Video
    from backend.questions.models import Comparison, Question, Search
    from backend.tenancy.models import Tenant
    from backend.webhooks.models import Delivery, Endpoint

    found = {f"overview_{days}_days": f"/console/?days={days}" for days in (1, 7, 30, 90)}
    found |= {"operations": "/console/operations/", "requests": "/console/requests/"}
    for model in site._registry:
        name = f"{model._meta.app_label}/{model._meta.model_name}"
        found[f"list {name}"] = f"/console/{name}/"
    latest: dict[str, Any] = {}
    for kind in (AuditEvent, Comparison, CreditGrant, Delivery, Endpoint, Invoice, Job, Search, UsageEvent, Video):
        latest[kind.__name__] = kind.unscoped.using("console").order_by("-id").first()
    latest["Question"] = Question.unscoped.using("console").filter(comparison=None).order_by("-id").first()
    latest["Plan"] = Plan.objects.using("console").get(code="standard")
    latest["Tenant"] = Tenant.objects.using("console").get(slug="tenant-1")
    for name, row in latest.items():
        found[name.lower()] = f"/console/{row._meta.app_label}/{row._meta.model_name}/{row.pk}/change/"
    tenant = latest["Tenant"].id
    return found | {
        "ledger of a tenant": f"/console/billing/usageevent/?tenant={tenant}",
        "ledger of a meter": "/console/billing/usageevent/?meter=questions",
        "questions of a tenant": f"/console/questions/question/?tenant={tenant}",
        "find": f"/console/find/?q={latest['Video'].id}",
        "preview of a price": "/console/billing/price/preview/",
    }


def _new_price() -> dict[str, str]:
    """Return the fields of a price that is previewed and not appended."""
    from datetime import timedelta

    from django.utils import timezone

    from backend.billing.models import PriceBook

    book = PriceBook.objects.using("console").filter(kind="price", tenant_id=None, currency="USD").order_by("code")
    at = timezone.now() + timedelta(days=1)
    return {
        "book": str(book[0].pk), "meter": "questions", "model": "", "variant": "", "unit_amount": "0.03",
        "effective_from_0": f"{at:%Y-%m-%d}", "effective_from_1": "00:00:00", "note": "measured, not appended",
    }  # fmt: skip


def measure(repeats: int) -> Iterator[Figure]:
    """Yield the p95 of each page in milliseconds: warm, and cold, which is with nothing kept in Redis."""
    from django.core.cache import cache

    client = _operator()
    for name, address in pages().items():
        # The first view of a page compiles its templates, which a process does once.
        _view(client, address)
        for kind in ("cold", "warm"):
            times = []
            began = time.process_time()
            for _ in range(repeats):
                if kind == "cold":
                    cache.clear()
                times.append(_view(client, address))
            # Other work on the machine lengthens a view, and hardly its processor time.
            own = 1000 * (time.process_time() - began) / repeats
            p95 = statistics.quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0]
            middle = f"{repeats} views, median {statistics.median(times):.0f} ms; the process works {own:.0f} ms"
            yield at_most(f"console: {name}, {kind}", p95, LIMIT_MS, middle)


def _view(client: Any, address: str) -> float:
    """Return the milliseconds of one view. A preview is the answer to the form of a price."""
    fields = _new_price() if address.endswith("/preview/") else None
    began = time.perf_counter()
    reply = client.get(address) if fields is None else client.post(address, fields)
    taken = 1000 * (time.perf_counter() - began)
    if reply.status_code not in (200, 302):
        raise RuntimeError(f"{address} answered {reply.status_code}")
    if fields is not None and b"would have cost" not in reply.content:
        raise RuntimeError("the form of a price was refused")
    return taken


def _operator() -> Any:
    """Return the browser of an operator who has opened the content of all tenants."""
    from datetime import timedelta

    from django.test import Client
    from django.utils import timezone

    from backend.people.models import Person
    from backend.staff import services, sign_in
    from backend.staff.models import ContentAccess, Role
    from backend.tenancy.models import Tenant

    services.appoint(email="bench@example.org", role=Role.OPERATOR)
    person = Person.objects.using("staff").get(email="bench@example.org")
    for tenant_id in Tenant.objects.using("console").values_list("id", flat=True):
        ContentAccess.objects.create(
            person_id=person.id, tenant_id=tenant_id, reason="bench", expires_at=timezone.now() + timedelta(hours=8)
        )
    client = Client()
    client.force_login(person, "backend.staff.sign_in.StaffBackend")
    session = client.session
    session[sign_in.VERIFIED] = time.time()
    session.save()
    return client


def _sweep() -> None:
    """Add up the days of all tenants, as the sweep does every five minutes."""
    from django.utils import timezone

    from backend.billing.services.usage.day_totals import rebuild_stale_days
    from backend.questions.services.stage_times import build_days

    show_progress(f"{rebuild_stale_days()} days of usage and {build_days(timezone.now())} days of times are added up")


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
                _sweep()
                yield counts
    finally:
        shutil.rmtree(root, ignore_errors=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--only", choices=["pages", "usage"], help="measure the pages, or GET /v1/usage, alone")
    options = parser.parse_args(arguments)
    with console(options.scale) as counts:
        show_progress(str(counts))
        from django.test import override_settings

        with override_settings(ALLOWED_HOSTS=["testserver"]):
            usage = () if options.only == "pages" else usage_api.measure(options.repeats)
            pages = () if options.only == "usage" else measure(options.repeats)
            return 0 if print_lines(chain(usage, pages)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
