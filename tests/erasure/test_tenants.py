"""An erased tenant leaves nothing: rows, graph, vectors and objects are counted as superuser and in the bucket."""

from __future__ import annotations

import io
import json
from typing import Any
from uuid import UUID

import psycopg.sql
import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.core.management import CommandError, call_command
from django.db.models.functions import Now
from rest_framework.test import APIClient

from backend.api.monitoring.chores import do_chores
from backend.api.public_ids import encode
from backend.audit.models import AuditEvent
from backend.ekg.graph_store import GraphStore
from backend.erasure.queries import tenant_tables
from backend.erasure.services.tenants import BEGIN_AFTER, certificate_of
from backend.erasure.services.tickets import ticket_of
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.sweeps import SYSTEM_TENANT
from backend.library.services.deletion_ledger import Deleted, entries
from backend.library.storage import ObjectStorage
from backend.people.models import Person, SignInSettings
from backend.tenancy import keys
from backend.tenancy.context import tenant_scope
from backend.tenancy.services import issue_api_key
from tests.conftest import Cast
from tests.ekg.recorded import record
from tests.isolation.test_catalog import superuser
from tests.isolation.test_routes import belongings, state
from tests.people.cast import Browser, member_of, person
from tests.questions.world import ask, finish
from tests.running import run_job

LABELS = ("Event", "Entity", "NEXT", "PARTICIPATES_IN", "RELATED_TO")


def left_of(tenant_id: UUID) -> dict[str, int]:
    """Count the tenant's rows, vertices and edges by table, past row-level security; leave out empty tables."""
    with superuser() as connection:
        tables = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' AND "
            "(column_name = 'tenant_id' OR (table_name, column_name) = ('tenancy_tenant', 'id'))"
        ).fetchall()
        counts = {}
        for table, column in tables:
            query = psycopg.sql.SQL("SELECT count(*) FROM {} WHERE {} = %s")
            named = query.format(psycopg.sql.Identifier(table), psycopg.sql.Identifier(column))
            counts[table] = _first(connection.execute(named, [tenant_id]).fetchone())
        for label in LABELS:
            query = psycopg.sql.SQL("SELECT count(*) FROM ekg.{} WHERE properties::text LIKE %s")
            named = query.format(psycopg.sql.Identifier(label))
            counts[label] = _first(connection.execute(named, [f"%{tenant_id}%"]).fetchone())
    return {name: count for name, count in counts.items() if count}


def _first(row: Any) -> int:
    return int(row[0])


def world(cast: Cast) -> None:
    """Give the tenant something of each kind, with objects and an answered question."""
    belongings(cast)
    seen = record(cast)
    with cast.scope():
        GraphStore().add_events(seen.video_id, 1, seen.events)
        GraphStore().link_next(seen.video_id, 1, [seen.events])
    question_id, video_id = ask(cast)
    finish(cast, question_id, video_id)
    for key in ("v/x/1/frames/0.jpg", "v/x/q/y/1.jpg"):
        ObjectStorage().put(f"t/{cast.tenant_id}/{key}", b"jpeg", content_type="image/jpeg")


def erase(cast: Cast, *, again: bool = False, api: bool = True) -> str:
    """Run the job of the erasure and return its state. api: whether an API erases the people whom the job waits for."""
    key = f"erase-tenant{'-again' if again else ''}:{cast.tenant_id}"
    for _ in range(2 if api else 1):
        with tenant_scope(SYSTEM_TENANT):
            Job.objects.filter(dedupe_key=key).update(not_before=Now())
            job = Job.objects.get(dedupe_key=key)
        run_job(job.id, SYSTEM_TENANT, worker="test")
        with tenant_scope(SYSTEM_TENANT):
            job = Job.objects.get(id=job.id)
        if job.error_code != "people_wait":
            break
        if api:
            do_chores()
    return str(job.state)


def test_an_erased_tenant_leaves_nothing_and_another_tenant_loses_nothing(acme: Cast, globex: Cast) -> None:
    world(acme)
    world(globex)
    before = left_of(globex.tenant_id)
    assert {"ekg_event", "billing_usageevent", "Event", "NEXT", "questions_evidence"} <= set(left_of(acme.tenant_id))
    assert len(list(ObjectStorage().list_keys(f"t/{acme.tenant_id}/"))) == 2
    out = io.StringIO()

    call_command("erase_tenant", acme.slug, yes=acme.slug, stdout=out)

    assert json.loads(out.getvalue()) == {"tenant_id": str(acme.tenant_id), "status": "erasing"}
    assert acme.client.get("/v1/videos").status_code == 401, "no key of the tenant works any more"
    assert erase(acme) == JobState.SUCCEEDED
    assert left_of(acme.tenant_id) == {}
    assert list(ObjectStorage().list_keys(f"t/{acme.tenant_id}/")) == []
    certificate = certificate_of(acme.tenant_id)
    assert set(certificate["rows"]) == {table.name for table in tenant_tables()} | {"tenancy_tenant"}
    assert not any(certificate["rows"].values())
    zeros = ("objects", "unfinished_uploads", "vectors", "vertices", "edges", "people")
    assert [certificate[name] for name in zeros] == [0] * 6
    assert left_of(globex.tenant_id) == before
    assert len(list(ObjectStorage().list_keys(f"t/{globex.tenant_id}/"))) == 2
    assert [entry.kind for entry in entries() if entry.tenant_id == acme.tenant_id] == [Deleted.TENANT]


def test_what_a_late_worker_stores_is_erased_by_the_second_run(acme: Cast) -> None:
    world(acme)
    call_command("erase_tenant", acme.slug, yes=acme.slug, stdout=io.StringIO())
    assert erase(acme) == JobState.SUCCEEDED
    late = f"t/{acme.tenant_id}/v/x/q/y/2.jpg"
    ObjectStorage().put(late, b"jpeg", content_type="image/jpeg")
    assert erase(acme, again=True) == JobState.QUEUED, "a run that found something is followed by another one"
    assert list(ObjectStorage().list_keys(f"t/{acme.tenant_id}/")) == []
    assert erase(acme, again=True) == JobState.SUCCEEDED


def test_an_erasure_waits_for_a_worker_that_holds_a_lease(acme: Cast) -> None:
    from backend.jobs.services import claim

    ask(acme)
    with acme.scope():
        job = Job.objects.get(kind=JobKind.ANSWER_QUESTION)
        assert claim(job.id, worker="busy") is not None
    call_command("erase_tenant", acme.slug, yes=acme.slug, stdout=io.StringIO())
    assert erase(acme) == JobState.QUEUED
    with tenant_scope(SYSTEM_TENANT):
        assert Job.objects.get(kind=JobKind.ERASE_TENANT).error_code == "tenant_in_use"
    assert "questions_question" in left_of(acme.tenant_id)
    with acme.scope():
        Job.objects.filter(id=job.id).update(lease_until=Now())
    assert erase(acme) == JobState.SUCCEEDED
    assert left_of(acme.tenant_id) == {}


def test_the_command_wants_the_slug_twice(acme: Cast) -> None:
    before = state()
    for arguments in ({}, {"yes": "other"}):
        with pytest.raises(CommandError):
            call_command("erase_tenant", acme.slug, stdout=io.StringIO(), **arguments)
    with pytest.raises(CommandError):
        call_command("erase_tenant", certificate=acme.tenant_id, stdout=io.StringIO())
    assert state() == before


def test_every_table_with_tenants_can_be_erased() -> None:
    assert [table.name for table in tenant_tables() if not (table.by_tenant or table.by_dispatch)] == []
    kept = {table.name for table in tenant_tables() if not table.by_tenant}
    assert {"billing_usageevent", "billing_modelcall", "billing_billingsource", "jobs_jobhistory"} <= kept


def test_an_owner_erases_the_tenant_and_the_ticket_opens_the_certificate(acme: Cast, globex: Cast) -> None:
    world(acme)
    before = left_of(globex.tenant_id)
    owner = Browser(Person.objects.get(id=member_of(acme, "owner").person_id), acme.slug)

    reply = owner.api("DELETE", "/v1/tenant", {"slug": acme.slug})

    assert reply.status_code == 202
    assert reply["Cache-Control"] == "no-store"
    ticket = {"Authorization": f"Bearer {reply.json().pop('ticket')}"}
    tenant = encode("tnt", acme.tenant_id)
    going_on = {"object": "tenant_erasure", "tenant_id": tenant, "status": "erasing", "certificate": None}
    assert {name: value for name, value in reply.json().items() if name != "ticket"} == going_on
    assert APIClient().get("/v1/tenant/erasure", headers=ticket).json() == going_on
    assert acme.client.get("/v1/videos").status_code == 401, "its keys have ended"
    assert owner.api("GET", "/v1/videos").status_code == 403, "its sessions have ended"
    with acme.scope():
        assert AuditEvent.objects.filter(action="tenant.erasure_requested", actor_kind="person").count() == 1
    with tenant_scope(SYSTEM_TENANT):
        job = Job.objects.get(kind=JobKind.ERASE_TENANT, subject_id=acme.tenant_id)
        assert (job.due, job.not_before - job.created_at) == (False, pytest.approx(BEGIN_AFTER, abs=BEGIN_AFTER / 2))

    assert erase(acme) == JobState.SUCCEEDED

    assert left_of(acme.tenant_id) == {}
    shown = APIClient().get("/v1/tenant/erasure", headers=ticket).json()
    assert (shown["status"], shown["tenant_id"]) == ("erased", tenant)
    counts = ("objects", "unfinished_uploads", "rows", "vectors", "vertices", "edges")
    assert [shown["certificate"][name] for name in counts] == [0] * 6
    assert left_of(globex.tenant_id) == before


def test_only_owners_and_full_keys_that_name_the_tenant_erase_it(acme: Cast, globex: Cast) -> None:
    path, named = "/v1/tenant", {"slug": acme.slug}
    admin = Browser(Person.objects.get(id=member_of(acme, "admin").person_id), acme.slug)
    stale = Browser(Person.objects.get(id=member_of(acme, "owner").person_id), acme.slug, at=0.0)
    with acme.scope():
        _, narrow = issue_api_key(name="narrow", scopes=keys.SCOPES)
    partial = APIClient()
    partial.credentials(HTTP_AUTHORIZATION=f"Bearer {narrow}")

    assert admin.api("DELETE", path, named).json()["code"] == "insufficient_scope"
    assert stale.api("DELETE", path, named).json()["code"] == "reauthentication_required"
    assert partial.delete(path, named).json()["code"] == "insufficient_scope"
    for body in ({}, {"slug": globex.slug}, {"slug": acme.slug, "sure": True}):
        refused = acme.client.delete(path, body)
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request"), body
    assert acme.client.delete(path, {"slug": globex.slug}).json()["errors"][0]["code"] == "slug_mismatch"
    with tenant_scope(SYSTEM_TENANT):
        assert not Job.objects.filter(kind=JobKind.ERASE_TENANT).exists()
    assert not [entry for entry in entries() if entry.tenant_id in (acme.tenant_id, globex.tenant_id)]

    assert acme.client.delete(path, named).status_code == 202
    assert globex.client.get("/v1/videos").status_code == 200


def test_a_ticket_opens_the_erasure_of_its_tenant_alone(acme: Cast) -> None:
    client = APIClient()
    for sent in ("", "Bearer era_x", f"Bearer {ticket_of(acme.tenant_id)[4:]}", f"Bearer {ticket_of(acme.tenant_id)}x"):
        assert client.get("/v1/tenant/erasure", headers={"Authorization": sent}).status_code == 401, sent
    # The caller's key is no ticket, and nothing was begun.
    assert acme.client.get("/v1/tenant/erasure").status_code == 401
    mine = {"Authorization": f"Bearer {ticket_of(acme.tenant_id)}"}
    assert client.get("/v1/tenant/erasure", headers=mine).status_code == 404


def test_people_of_an_erased_tenant_are_erased_with_their_identities(acme: Cast, globex: Cast) -> None:
    alone, both = person("alone"), person("both")
    member_of(acme, "owner", alone)
    member_of(acme, "viewer", both)
    member_of(globex, "viewer", both)
    with acme.scope():
        SignInSettings.objects.create(tenant_id=acme.tenant_id, oidc_issuer="https://id.example.org")
    stranger = person("stranger")
    for who in (alone, both, stranger):
        SocialAccount.objects.create(user=who, provider=encode("tnt", acme.tenant_id), uid=str(who.id))
    other = SocialAccount.objects.create(user=both, provider=encode("tnt", globex.tenant_id), uid="7")
    call_command("erase_tenant", acme.slug, yes=acme.slug, stdout=io.StringIO())
    ticket = {"Authorization": f"Bearer {ticket_of(acme.tenant_id)}"}

    assert erase(acme, api=False) == JobState.QUEUED, "no worker erases people, so the certificate waits for the API"
    with tenant_scope(SYSTEM_TENANT):
        assert Job.objects.get(kind=JobKind.ERASE_TENANT).error_code == "people_wait"
    assert APIClient().get("/v1/tenant/erasure", headers=ticket).json()["status"] == "erasing"

    do_chores()

    assert erase(acme) == JobState.SUCCEEDED
    assert left_of(acme.tenant_id) == {}
    assert APIClient().get("/v1/tenant/erasure", headers=ticket).json()["certificate"]["people"] == 0
    assert set(Person.objects.values_list("id", flat=True)) == {both.id, stranger.id}
    assert list(SocialAccount.objects.values_list("id", flat=True)) == [other.id]
    assert not EmailAddress.objects.filter(email=alone.email).exists()
