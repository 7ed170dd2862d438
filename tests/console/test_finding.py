"""The console's search: public ids, request ids, slugs and addresses of any tenant lead to the page that shows them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from uuid6 import uuid7

from backend.api.monitoring.recent_requests import RECORDER
from backend.api.public_ids import PREFIXES, encode
from backend.billing.models import Budget
from backend.console.finding import KINDS, find
from backend.console.queries import finds
from backend.ekg.models import Chunk, Event, Frame, Mention, Relation, TrackedObject, TranscriptLine
from backend.jobs.models import Job
from backend.library.models import Segment
from backend.people.models import Membership, Person
from backend.shares.models import Share
from tests.conftest import Cast
from tests.console.furnished import unpaid_invoice
from tests.console.indexed import indexed_video
from tests.console.signing_in import open_content, the_api
from tests.questions.world import ask, finish


def test_each_public_id_leads_to_its_page(staff: Client, acme: Cast, globex: Cast) -> None:
    question_id, video_id = ask(acme)
    finish(acme, question_id, video_id)
    job = Job.unscoped.using("console").get(subject_id=question_id)
    cases = {
        encode("qst", question_id): f"/console/questions/question/{question_id}/change/",
        encode("vid", video_id): f"/console/library/video/{video_id}/change/",
        encode("job", job.id): f"/console/jobs/job/{job.id}/change/",
        encode("tnt", globex.tenant_id): f"/console/tenancy/tenant/{globex.tenant_id}/change/",
        encode("key", acme.key_id): f"/console/tenancy/tenant/{acme.tenant_id}/change/",
        str(question_id): f"/console/questions/question/{question_id}/change/",
        globex.slug: f"/console/tenancy/tenant/{globex.tenant_id}/change/",
    }
    for text, page in cases.items():
        reply = staff.get("/console/find/", {"q": f" {text} "})
        assert (reply.status_code, reply.headers.get("Location")) == (302, page), text
    palette = staff.get("/console/search/", {"s": encode("qst", question_id), "extended": "1"}).content.decode()
    assert f"/console/questions/question/{question_id}/change/" in palette


def test_unknown_and_foreign_texts_find_nothing(staff: Client, acme: Cast) -> None:
    for text in (encode("vid", uuid7()), str(uuid7()), "nobody@example.org", "req_0", "vid_0OIl", "%", "no-such-slug"):
        page = staff.get("/console/find/", {"q": text})
        assert page.status_code == 200
        assert "Nothing that you may open has this name." in page.content.decode(), text


def test_a_request_id_leads_to_what_the_request_did(staff: Client, acme: Cast) -> None:
    with the_api():
        reply = acme.client.post("/v1/api-keys", {"name": "second", "scopes": ["videos:read"]}, format="json")
    assert reply.status_code == 201
    RECORDER.sent()
    # The request is among the latest, and in the audit log.
    id = reply.headers["X-Request-Id"]
    found = staff.get("/console/find/", {"q": id}).content.decode()
    assert f"/console/requests/?request={id}&amp;which=" in found
    assert re.search(r'href="/console/audit/auditevent/[^"]+"', found)


def test_a_persons_address_leads_to_each_of_their_tenants(staff: Client, acme: Cast, globex: Cast) -> None:
    person = Person.objects.create_user("alice@example.org")
    for cast in (acme, globex):
        with cast.scope():
            Membership.objects.create(tenant_id=cast.tenant_id, person=person, role="viewer")
    page = staff.get("/console/find/", {"q": "Alice@example.org"}).content.decode()

    assert all(f"/console/tenancy/tenant/{cast.tenant_id}/change/" in page for cast in (acme, globex))


def test_a_role_finds_what_it_may_open(acme: Cast, staff_as: Any) -> None:
    question_id, _ = ask(acme)
    text = encode("qst", question_id)

    assert [hit.what for hit in find(text, "support")] == ["question"]
    assert find(text, "finance") == []
    assert [hit.what for hit in find(encode("tnt", acme.tenant_id), "finance")] == ["tenant"]


def test_ids_of_money_and_shares_lead_to_their_pages(staff: Client, acme: Cast) -> None:
    question_id, _ = ask(acme)
    with acme.scope():
        budget = Budget.objects.create(tenant_id=acme.tenant_id, charge=5)
        share = Share.objects.create(
            tenant_id=acme.tenant_id, digest=bytes(32), question_id=question_id, expires_at=timezone.now()
        )
    invoice = unpaid_invoice(acme)
    tenant = f"/console/tenancy/tenant/{acme.tenant_id}/change/"
    for text, page in {
        encode("bud", budget.id): tenant,
        encode("shr", share.id): tenant,
        encode("ivc", invoice): f"/console/billing/invoice/{invoice}/change/",
    }.items():
        assert staff.get("/console/find/", {"q": text}).headers.get("Location") == page, text


def test_every_kind_of_public_id_is_searched() -> None:
    # People belong to no tenant: their ids lead to each of their memberships.
    assert set(KINDS) == PREFIXES - {"per"}


@pytest.mark.parametrize("prefix", sorted(KINDS))
def test_each_kind_has_a_table_and_a_page(database: None, prefix: str) -> None:
    kind = KINDS[prefix]
    assert finds.by_id(kind.table, uuid7()) == []
    assert kind.page(finds.Found(uuid7(), uuid7(), "", uuid7())).startswith("/console/")


def test_what_lies_in_a_video_opens_its_page_at_its_moment(staff: Client, acme: Cast, globex: Cast) -> None:
    video_id = indexed_video(acme)
    indexed_video(globex)
    with acme.scope():
        event = Event.objects.order_by("-start_ms")[0]
        line, car = TranscriptLine.objects.get(), TrackedObject.objects.get()
        frame, chunk = Frame.objects.order_by("-ms")[0], Chunk.objects.order_by("-start_ms")[0]
        segment, relation = Segment.objects.get(), Relation.objects.get()
        related = Event.objects.get(id=relation.event_id)
        mention = Mention.objects.order_by("id")[0]
        first = min(
            Event.objects.get(id=row.event_id).start_ms for row in Mention.objects.filter(entity_id=mention.entity_id)
        )
    assert event.start_ms > 0
    page = f"/console/library/video/{video_id}/change/"
    for text, where in {
        encode("evt", event.id): f"?at={event.start_ms}&events=at#events",
        encode("ent", mention.entity_id): f"?at={first}&events=at#events",
        encode("rel", relation.id): f"?at={related.start_ms}&events=at#events",
        encode("frm", frame.id): f"?at={frame.ms}&events=at#events",
        encode("chk", chunk.id): f"?at={chunk.start_ms}&events=at#events",
        encode("trn", line.id): f"?at={line.start_ms}&speech=at#speech",
        encode("obj", car.id): f"?at={car.start_ms}&objects=at#objects",
        encode("seg", segment.id): f"?at={segment.start_ms}",
    }.items():
        assert staff.get("/console/find/", {"q": text}).headers.get("Location") == page + where, text


def test_a_moment_opens_the_player_and_the_list_there(staff: Client, acme: Cast) -> None:
    video_id = indexed_video(acme, duration_ms=600_000)
    open_content(staff, acme)
    with acme.scope():
        TranscriptLine.objects.bulk_create(
            TranscriptLine(
                tenant_id=acme.tenant_id, video_id=video_id, index_version=1, start_ms=1_000 * n,
                end_ms=1_000 * n + 900, text=f"line {n}.",
            )
            for n in range(10, 510)
        )  # fmt: skip
    address = f"/console/library/video/{video_id}/change/"

    page = staff.get(f"{address}?at=300000&speech=at").content.decode()
    marked = re.findall(r'<li aria-current="true">.*?</li>', page)

    assert [re.sub("<[^>]+>", "", mark) for mark in marked] == ["0:05:00 – 0:05:00 line 300."]
    assert "281 to 300 of 501 are shown." in page
    # A mark that lies between two lines opens the line before it.
    between = staff.get(f"{address}?at=300950&speech=at").content.decode()
    assert "281 to 300 of 501 are shown." in between
    for wrong in ("x", "-1", "9" * 13, "\u0661"):
        assert 'aria-current="true">0:0' not in staff.get(f"{address}?at={wrong}&speech=at").content.decode()
        assert "1 to 20 of 501 are shown." in staff.get(f"{address}?at={wrong}&speech=at").content.decode()
