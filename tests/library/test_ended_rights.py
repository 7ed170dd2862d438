"""Ended rights reach the ledger after their transaction, whatever ended them, and wait while storage is away."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import call_command

from backend.api.public_ids import encode
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.sweeps import SYSTEM_TENANT, queue_sweeps
from backend.library.services.deletion_ledger import Deleted, entries
from backend.library.services.ended_rights import record_endings
from backend.library.storage import ObjectStorage, StorageAway
from backend.tenancy.context import tenant_scope
from backend.tenancy.models import ApiKey, Ending, Tenant
from backend.tenancy.refusals import Refused
from backend.tenancy.services import issue_api_key
from tests.conftest import Cast
from tests.people.cast import member_of
from tests.running import run_job


def recorded(cast: Cast) -> list[tuple[str, int]]:
    return [(entry.kind.value, len(entry.ids)) for entry in entries() if entry.tenant_id == cast.tenant_id]


def waiting(cast: Cast) -> list[str]:
    with cast.scope():
        return list(Ending.objects.order_by("ended_at", "id").values_list("kind", flat=True))


def test_a_removed_member_and_the_keys_that_end_with_it_are_recorded(acme: Cast, globex: Cast) -> None:
    member = member_of(acme, "developer")
    with acme.scope():
        key, _ = issue_api_key(name="own", scopes=["videos:read"])
        ApiKey.objects.filter(id=key.id).update(created_by_person_id=member.person_id)

    assert acme.client.delete(f"/v1/members/{encode('mem', member.id)}").status_code == 204

    assert sorted(waiting(acme)) == ["api_key", "member"]
    assert recorded(acme) == [], "the request has asked no storage"
    assert record_endings() == 2
    assert sorted(recorded(acme)) == [("api_key", 1), ("member", 1)]
    assert (waiting(acme), recorded(globex)) == ([], [])


def test_a_refused_request_notes_nothing(acme: Cast) -> None:
    last = acme.client.delete(f"/v1/api-keys/{encode('key', acme.key_id)}")
    assert last.status_code == 409
    assert waiting(acme) == []


def storage_is_away(*_: Any, **__: Any) -> None:
    raise StorageAway("ConnectTimeoutError")


def test_endings_wait_while_storage_is_away_or_the_tenant_moves(
    acme: Cast, globex: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    for cast in (acme, globex):
        with cast.scope():
            ApiKey.objects.filter(id=cast.key_id).update(revoked_at="2026-01-01T00:00:00Z")
    with monkeypatch.context() as patched:
        patched.setattr(ObjectStorage, "put", storage_is_away)
        with pytest.raises(Refused, match="does not answer"):
            record_endings()
    assert [waiting(cast) for cast in (acme, globex)] == [["api_key"], ["api_key"]]

    with globex.scope():
        Tenant.objects.filter(id=globex.tenant_id).update(fence="draining")
    assert record_endings() == 1
    with globex.scope():
        Tenant.objects.filter(id=globex.tenant_id).update(fence="")
    assert record_endings() == 1
    assert recorded(acme) == recorded(globex) == [("api_key", 1)]


def test_the_sweep_records_them(acme: Cast) -> None:
    call_command("suspend_tenant", acme.slug, reason="A key has leaked.", stdout=io.StringIO())
    queue_sweeps()
    with tenant_scope(SYSTEM_TENANT):
        job = Job.objects.get(kind=JobKind.RECORD_ENDINGS)

    run_job(job.id, SYSTEM_TENANT, worker="test")

    assert recorded(acme) == [(Deleted.SUSPENSION.value, 1)]
    with tenant_scope(SYSTEM_TENANT):
        assert Job.objects.get(id=job.id).state == JobState.SUCCEEDED
