"""Every route that names a resource, requested with another tenant's id, answers as if the id had never existed.

The cases come from the URL resolver, so a new route is tested from its first day; a new kind of id must be added to
PREFIX_OF and to `belongings`, or these tests fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import psycopg.sql
import pytest
import yaml
from django.urls import URLPattern, get_resolver
from django.utils import timezone

from backend.api.public_ids import encode
from tests.billing.invoices.ledger import use
from tests.conftest import Cast
from tests.contract import PATH
from tests.ekg.recorded import new_id, record
from tests.isolation.test_catalog import superuser
from tests.library.uploading import create_upload
from tests.people.cast import invitation_of, member_of

PREFIX_OF = {
    "upload_id": "upl",
    "video_id": "vid",
    "collection_id": "col",
    "job_id": "job",
    "segment_id": "seg",
    "key_id": "key",
    "member_id": "mem",
    "invitation_id": "inv",
    "question_id": "qst",
    "batch_id": "bat",
    "budget_id": "bud",
    "comparison_id": "cmp",
    "session_id": "ses",
    "search_id": "sea",
    "endpoint_id": "whe",
    "delivery_id": "whd",
    "webhook_event_id": "msg",
    "invoice_id": "ivc",
    "credit_id": "cre",
    "usage_event_id": "use",
    "audit_event_id": "aud",
    "share_id": "shr",
    "clip_id": "clp",
    "event_id": "evt",
    "chunk_id": "chk",
    "line_id": "trn",
    "frame_id": "frm",
    "object_id": "obj",
    "track_id": "trk",
    "entity_id": "ent",
    "relation_id": "rel",
}
READ_ELSEWHERE = {"Me": "per", "Node": "nod", "TraceNode": "nod"}
"""Schemas whose id is read as a part of something else, with its prefix."""
PARAMETER, NUMBER = re.compile(r"<str:(\w+)>"), re.compile(r"<int:\w+>")
# A body that each POST and PATCH would accept from the owner, so that only the id can be at fault.
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "v1/uploads/<str:upload_id>/part-urls"): {"part_numbers": [1]},
    ("PATCH", "v1/videos/<str:video_id>"): {"title": "taken"},
    ("POST", "v1/videos/<str:video_id>/segments"): {"source": {"type": "url", "url": "https://example.org/a.mp4"}},
    ("PATCH", "v1/index-jobs/<str:job_id>"): {"priority": "high"},
    ("PATCH", "v1/questions/<str:question_id>"): {"priority": "high"},
    ("PATCH", "v1/question-batches/<str:batch_id>"): {"priority": "high"},
    ("PATCH", "v1/collections/<str:collection_id>"): {"name": "taken"},
    ("PUT", "v1/questions/<str:question_id>/feedback"): {"verdict": "right"},
    ("PATCH", "v1/members/<str:member_id>"): {"role": "viewer"},
    ("PATCH", "v1/api-keys/<str:key_id>"): {"name": "taken"},
    ("PATCH", "v1/webhook-endpoints/<str:endpoint_id>"): {"description": "taken"},
}


def routes() -> Iterator[tuple[str, type[Any]]]:
    def walk(patterns: list[Any], prefix: str) -> Iterator[tuple[str, type[Any]]]:
        for pattern in patterns:
            route = prefix + NUMBER.sub("0", str(pattern.pattern))
            if isinstance(pattern, URLPattern):
                yield route, getattr(pattern.callback, "view_class", object)
            else:
                yield from walk(pattern.url_patterns, route)

    return (found for found in walk(get_resolver().url_patterns, "") if found[0].startswith("v1/"))


def detail_cases() -> list[tuple[str, str]]:
    return [(method, route) for route, view in routes() if PARAMETER.search(route) for method in sorted(view.scopes)]


def belongings(cast: Cast) -> dict[str, UUID]:
    """One resource of each kind, as PREFIX_OF names them."""
    from backend.api.public_ids import decode
    from backend.audit import services as audit
    from backend.audit.models import ActorKind
    from backend.billing.models import Budget
    from backend.billing.services.credit.credit_grants import grant_credit
    from backend.clips.models import Clip
    from backend.ekg.models import Chunk, Frame, Track, TranscriptLine
    from backend.library.models import Collection, InputSegment
    from backend.playback.models import RenditionPiece
    from backend.questions.models import Comparison, Feedback, Question, QuestionBatch, Search, Session
    from backend.shares.models import Share
    from backend.tenancy.secrets import seal
    from backend.webhooks.models import Endpoint
    from backend.webhooks.services import send_test

    made = record(cast)
    video_id = made.video_id
    upload = create_upload(cast.client, b"x")
    tenant = cast.tenant_id
    used = use(cast, timezone.now())
    with cast.scope():
        endpoint = Endpoint.objects.create(tenant_id=tenant, url="https://example.org/hook", secret=seal(b"whsec_x"))
        delivery = send_test(endpoint=endpoint)
        batch = QuestionBatch.objects.create(tenant_id=tenant, total=1)
        arms = [{"method": name, "effort": "low", "check": "auto", "label": name} for name in ("ava", "vector")]
        comparison = Comparison.objects.create(tenant_id=tenant, arms=arms, total=2)
        question = Question.objects.create(
            tenant_id=tenant, text="Who?", status="succeeded", batch=batch, batch_position=0
        )
        RenditionPiece.objects.create(
            tenant_id=tenant, video_id=video_id, n=0, start_ms=0, end_ms=30_000, state="ready", begin_ms=0,
            until_ms=30_000, object_key=f"t/{tenant}/v/x/r/0.mp4", init_bytes=1, fragments=[[1, 0]], tile_ms=2_000,
            sheets=[[f"t/{tenant}/v/x/r/0.jpg", 1, 0, 1]],
        )  # fmt: skip
        Feedback.objects.create(tenant_id=tenant, question=question, verdict="right")
        credit = grant_credit(amount=Decimal(1), currency="USD", reason="Goodwill", author="tests")
        audit_event = audit.record("collection.deleted", actor=audit.Actor(ActorKind.API_KEY, cast.key_id, "tests"))
        return {
            "vid": video_id,
            "evt": made.events[0],
            "ent": made.man,
            "rel": made.relation,
            "obj": made.walker,
            "frm": Frame.objects.filter(video_id=video_id).values_list("id", flat=True)[0],
            "chk": Chunk.objects.filter(video_id=video_id).values_list("id", flat=True)[0],
            "trn": TranscriptLine.objects.filter(video_id=video_id).values_list("id", flat=True)[0],
            "cre": credit.id,
            "use": used.id,
            "aud": audit_event.id,
            "trk": Track.objects.filter(video_id=video_id).values_list("id", flat=True)[0],
            "job": video_id,
            "seg": InputSegment.objects.create(tenant_id=tenant, video_id=video_id, n=0).id,
            "upl": decode("upl", upload["id"]),
            "col": Collection.objects.create(tenant_id=tenant, name="Park").id,
            "key": cast.key_id,
            "mem": member_of(cast, "owner").id,
            "inv": invitation_of(cast).id,
            "qst": question.id,
            "bat": batch.id,
            "cmp": comparison.id,
            "ses": Session.objects.create(tenant_id=tenant, scope={"video_ids": [str(video_id)]}).id,
            "sea": Search.objects.create(
                tenant_id=tenant, text="Who?", settings={"mode": "hybrid", "views": {}, "fusion": "borda", "limit": 16}
            ).id,
            "whe": endpoint.id,
            "whd": delivery.id,
            "msg": delivery.event_id,
            "bud": Budget.objects.create(tenant_id=tenant, questions=10_000).id,
            "ivc": draft_invoice(cast).id,
            "clp": Clip.objects.create(
                tenant_id=tenant,
                video_id=video_id,
                question=question,
                mode="exact",
                captions="none",
                start_ms=0,
                end_ms=1_000,
                expires_at=timezone.now() + timedelta(days=1),
            ).id,
            "shr": Share.objects.create(
                tenant_id=tenant, question=question, digest=b"x", expires_at=timezone.now() + timedelta(days=1)
            ).id,
        }


def draft_invoice(cast: Cast) -> Any:
    """A draft without lines; needs the tenant's scope."""
    from datetime import UTC, datetime

    from backend.billing.models import Invoice

    start, end = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
    values = {"period_start": start, "period_end": end, "time_zone": "UTC", "currency": "USD"}
    return Invoice.objects.create(tenant_id=cast.tenant_id, entity_id="default", **values)


def state() -> dict[str, str]:
    """A fingerprint of every table, seen past row-level security; last_used_at is what authentication writes."""
    with superuser() as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1").fetchall()
        found = {}
        for (table,) in tables:
            query = psycopg.sql.SQL(
                "SELECT coalesce(md5(string_agg((to_jsonb(t) - 'last_used_at' - 'last_used_ip')::text, '|' "
                "ORDER BY to_jsonb(t)::text)), '') FROM {} t"
            ).format(psycopg.sql.Identifier(table))
            row = connection.execute(query).fetchone()
            assert row is not None
            found[table] = row[0]
    return found


def ask(cast: Cast, method: str, route: str, name: Callable[[str], UUID]) -> Any:
    path = "/" + PARAMETER.sub(lambda found: encode(PREFIX_OF[found[1]], name(PREFIX_OF[found[1]])), route)
    body = BODIES.get((method, route), {})
    call = getattr(cast.client, method.lower())
    return call(path) if method in {"GET", "DELETE"} else call(path, body)


def answer(response: Any) -> tuple[int, dict[str, Any], set[str]]:
    body = response.json()
    del body["instance"], body["request_id"]
    return response.status_code, body, set(response.headers)


def test_every_view_of_the_api_declares_its_scopes() -> None:
    for route, view in routes():
        if route in {"v1/openapi.json", "v1/tenant/erasure"}:  # public, and opened by a ticket
            continue
        methods = {name.upper() for name in ("get", "post", "put", "patch", "delete") if hasattr(view, name)}
        assert set(view.scopes) == methods, route


def test_every_parameter_is_of_a_known_kind() -> None:
    named = {name for route, _ in routes() for name in PARAMETER.findall(route)}
    assert named == set(PREFIX_OF)
    assert not any("<" in PARAMETER.sub("", route) for route, _ in routes())


def test_every_id_of_the_document_can_be_read_by_itself() -> None:
    schemas = yaml.safe_load(PATH.read_text())["components"]["schemas"]
    ids = {name: schema["properties"]["id"] for name, schema in schemas.items() if "id" in schema.get("properties", {})}
    prefixes = {name: id["pattern"][1:4] for name, id in ids.items() if "pattern" in id}
    read = {
        PREFIX_OF[PARAMETER.findall(route)[-1]]
        for route, view in routes()
        if route.endswith(">") and "GET" in getattr(view, "scopes", {})
    }
    assert {name: prefix for name, prefix in prefixes.items() if prefix not in read} == READ_ELSEWHERE


@pytest.fixture
def theirs(globex: Cast) -> dict[str, UUID]:
    return belongings(globex)


def test_a_foreign_id_answers_like_one_that_never_existed_and_changes_nothing(
    acme: Cast, globex: Cast, theirs: dict[str, UUID]
) -> None:
    """All routes are in one test, because making the other tenant's world takes most of the time."""
    cases = detail_cases()
    assert len(cases) > 25
    before = state()
    for method, route in cases:
        foreign = answer(ask(acme, method, route, theirs.__getitem__))
        unknown = answer(ask(acme, method, route, lambda _: new_id()))

        assert foreign == unknown, (method, route)
        assert foreign[0] == 404, (method, route, foreign)
        assert foreign[1]["code"] == "not_found", (method, route)
    assert state() == before


def test_the_owner_is_answered_on_the_same_routes(globex: Cast, theirs: dict[str, UUID]) -> None:
    """Otherwise the test above would also pass if the routes answered 404 to everybody."""
    for method, route in detail_cases():
        if method == "GET" and not route.endswith("/stream"):
            response = ask(globex, method, route, theirs.__getitem__)
            # A piece of a rendition is a redirect to object storage.
            assert response.status_code in {200, 302}, (route, response.content)


def test_lists_show_nothing_of_another_tenant(acme: Cast, theirs: dict[str, UUID]) -> None:
    words = {encode(prefix, value) for prefix, value in theirs.items()}
    for route, view in routes():
        if route == "v1/me":
            continue  # for people, not for keys
        if PARAMETER.search(route) or "GET" not in getattr(view, "scopes", {}):
            continue
        response = acme.client.get(f"/{route}")
        if response.status_code == 400:
            continue  # needs its own parameters; its app tests it
        content = response.getvalue().decode()
        assert response.status_code == 200, (route, content)
        assert not any(word in content for word in words), route


def test_an_id_in_a_body_or_a_filter_is_no_way_in(acme: Cast, theirs: dict[str, UUID]) -> None:
    growing = acme.client.post("/v1/videos", {"source": {"type": "segments"}}).json()["id"]
    before = state()
    upload = encode("upl", theirs["upl"])
    collection = encode("col", theirs["col"])

    made = acme.client.post("/v1/videos", {"source": {"type": "upload", "upload_id": upload}})
    grown = acme.client.post("/v1/videos", {"source": {"type": "segments"}, "collection_id": collection})
    appended = acme.client.post(f"/v1/videos/{growing}/segments", {"source": {"type": "upload", "upload_id": upload}})
    segment = acme.client.get(f"/v1/videos/{growing}/segments/{encode('seg', theirs['seg'])}")
    begun = acme.client.post(
        "/v1/uploads", {"filename": "a", "size_bytes": 1, "content_type": "video/mp4", "collection_id": collection}
    )
    listed = acme.client.get("/v1/videos", {"collection_id": collection})
    scope = {"video_ids": [encode("vid", theirs["vid"])]}
    searched = acme.client.post("/v1/search", {"query": "dog", **scope}, format="json")
    talked = acme.client.post("/v1/sessions", scope, format="json")
    followed = acme.client.post("/v1/questions", {"question": "Who?", "session_id": encode("ses", theirs["ses"])})

    assert (made.status_code, begun.status_code) == (400, 400)
    assert (grown.status_code, appended.status_code, segment.status_code) == (400, 400, 404)
    assert (searched.status_code, talked.status_code, followed.status_code) == (400, 400, 400)
    assert listed.json() == {"data": [], "next_cursor": None}
    assert state() == before
