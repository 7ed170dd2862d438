"""Links of the console's pages: each one leads to a page that the viewer's role may open."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from backend.console.admin import site
from backend.console.operation.overview import failure_link
from tests.conftest import Cast
from tests.console.furnished import furnish
from tests.console.signing_in import open_content

HREF = re.compile(r'href="(/console/[^"?#]*)')


def walked(client: Client, acme: Cast) -> list[str]:
    """The pages from which a person goes on: the overview, each list, and the newest row of each."""
    pages = ["/console/", "/console/operations/", f"/console/tenancy/tenant/{acme.tenant_id}/change/"]
    for model in site._registry:
        path = f"/console/{model._meta.app_label}/{model._meta.model_name}/"
        pages.append(path)
        rows = re.findall(rf'href="({path}[^/"]+/change/)', client.get(path).content.decode())
        pages += rows[:1]
    return pages


@pytest.mark.parametrize(
    "role",
    ["support", *(pytest.param(role, marks=pytest.mark.long) for role in ("support_content", "finance", "operator"))],
)
def test_no_page_links_to_a_page_that_the_role_may_not_open(staff_as: Any, acme: Cast, role: str) -> None:
    furnish(acme)
    client = staff_as(role)
    open_content(client, acme)
    links: dict[str, str] = {}
    for page in walked(client, acme):
        reply = client.get(page)
        if reply.status_code == 200:
            links |= dict.fromkeys(HREF.findall(reply.content.decode()), page)
    links = {link: page for link, page in links.items() if "/logout/" not in link and "/jsi18n/" not in link}

    refused = {link: page for link, page in links.items() if client.get(link).status_code in (403, 404)}

    assert len(links) > 10
    assert refused == {}


def test_a_link_to_failures_keeps_its_filters_whatever_failed() -> None:
    since = datetime(2026, 3, 2, 10, 30, tzinfo=UTC)
    span = "completed_at_from_0=2026-03-02&completed_at_from_1=10%3A30%3A00"
    links = {kind: failure_link(kind, "timeout", since, tenant=1) for kind in ("job index", "question", "segment")}
    assert links == {
        "job index": f"/console/jobs/job/?kind=index&error_code=timeout&{span}&tenant=1",
        "question": f"/console/questions/question/?status__exact=failed&error_code=timeout&{span}&tenant=1",
        "segment": "/console/library/video/?segment_error=timeout+since+2026-03-02T10%3A30%3A00%2B00%3A00&tenant=1",
    }
    attempts = failure_link("webhook attempt", "503", since)
    assert attempts.startswith("/console/webhooks/delivery/?attempt_error=503+since+2026-03-02T10")
