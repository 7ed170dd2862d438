"""How long `GET /v1/usage` takes for the largest tenant of a large installation, over the load of bench.seed_load."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

from bench.figures import Figure, at_most
from bench.seed_rows import DAYS

LIMIT_MS = 300


def measure(repeats: int) -> Iterator[Figure]:
    """Yield the p95 of each query in milliseconds, over the whole ledger of the tenant, through the API's own view."""
    from django.test import override_settings

    with override_settings(PROCESS="api", ROOT_URLCONF="backend.urls", RATE_LIMIT_PER_MINUTE=10**9):
        tenant_id, rows = _largest_tenant()
        client, queries = _client(tenant_id), _queries(tenant_id)
        for name, query in queries.items():
            times = []
            for _ in range(repeats + 1):
                began = time.perf_counter()
                reply = client.get("/v1/usage", query)
                times.append(1000 * (time.perf_counter() - began))
                if reply.status_code != 200 or not reply.json()["data"]:
                    raise RuntimeError(f"{name}: {reply.status_code} {reply.content[:300]!r}")
            # The first request makes the connection and the plans.
            p95 = statistics.quantiles(times[1:], n=20, method="inclusive")[-1] if repeats > 1 else times[-1]
            middle = f"{repeats} requests, median {statistics.median(times[1:]):.0f} ms, {rows} rows of the tenant"
            yield at_most(f"usage: {name}", p95, LIMIT_MS, middle)


def _largest_tenant() -> tuple[UUID, int]:
    from backend.console.queries.role import rows

    found = rows("SELECT tenant_id, sum(events) AS n FROM billing_tenantday GROUP BY 1 ORDER BY n DESC LIMIT 1")[0]
    return found["tenant_id"], int(found["n"])


def _client(tenant_id: UUID) -> Any:
    from rest_framework.test import APIClient

    from backend.tenancy.context import tenant_scope
    from backend.tenancy.services import issue_api_key

    with tenant_scope(tenant_id):
        _, text = issue_api_key(name="bench", scopes=["*"])
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    return client


def _queries(tenant_id: UUID) -> dict[str, dict[str, str]]:
    """Return the parameters of each query by its name. The filters name what has the most rows."""
    from django.utils import timezone

    from backend.api.public_ids import encode
    from backend.console.queries.role import rows

    start = (timezone.now() - timedelta(days=DAYS)).isoformat()

    def most(column: str, prefix: str) -> str:
        found = rows(
            f"SELECT {column} AS id FROM billing_usagehour WHERE tenant_id = %(tenant)s AND {column} IS NOT NULL "  # noqa: S608
            "GROUP BY 1 ORDER BY sum(events) DESC LIMIT 1",
            {"tenant": tenant_id},
        )
        return encode(prefix, found[0]["id"])

    whole = {"from": start, "group_by": "day"}
    return {
        "by day": whole,
        "by day and model": {**whole, "group_by": "day,model"},
        "by day, of a video": {**whole, "video_id": most("video_id", "vid")},
        "by day, of a key": {**whole, "api_key_id": most("api_key_id", "key")},
        "by day, of a member": {**whole, "member_id": most("person_id", "per")},
        "by video": {**whole, "group_by": "video"},
        "by key": {**whole, "group_by": "api_key"},
        "by member": {**whole, "group_by": "member"},
    }
