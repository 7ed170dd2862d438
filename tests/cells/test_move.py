"""A tenant moves between two cells: everything arrives, nothing stays, and a stopped move goes on."""

from __future__ import annotations

from io import StringIO
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command

from backend.billing.models import UsageMonth
from backend.cells.move import Patience, TenantMove, begin
from backend.ekg.graph_store import GraphStore
from backend.ekg.invariants import index_faults
from backend.jobs.dispatching import claim_next
from backend.jobs.leases import checkpoint, complete
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import enqueue
from backend.library.models import Video
from backend.library.storage import ObjectStorage
from backend.tenancy.directory import Directory
from backend.tenancy.refusals import TenantMoving
from tests.cells.world import Cells
from tests.conftest import Cast
from tests.ekg.test_invariants import sound_video
from tests.questions.world import ask, finish

NOW = Patience(drain=0, forget=0)
STOPS = ("draining", "copying", "fenced", "rows copied", "opening", "switched", "waiting")


class Killed(Exception):
    """The process that moves the tenant is gone."""


def place(cells: Cells, cast: Cast) -> None:
    cells.place(cast.tenant_id, cast.slug, cast.key.split("_")[2])


def furnished(cells: Cells, cast: Cast) -> UUID:
    """Give a tenant an index with its graph, an answered question that was billed, a waiting job and two objects."""
    place(cells, cast)
    video_id = sound_video(cast)
    finish(cast, *ask(cast))
    with cast.scope():
        enqueue(kind=JobKind.PROBE_VIDEO, subject_id=video_id, dedupe_key="waiting")
    for name in ("u/1/source", "v/1/1/frames/0.jpg"):
        ObjectStorage().put(f"t/{cast.tenant_id}/{name}", name.encode(), content_type="image/jpeg")
    return video_id


def move(cast: Cast, cell: str = "b", **options: Any) -> str:
    out = StringIO()
    call_command("move_tenant", cast.slug, cell, drain=0, forget=0, stdout=out, **options)
    return out.getvalue()


def topology(cast: Cast, video_id: UUID) -> Any:
    with cast.scope():
        return GraphStore().topology(video_id, 1)


def killed_at(stop: str, cells: Cells, cast: Cast) -> None:
    """Move the tenant until the process reaches stop; there it is killed."""

    def report(phase: str) -> None:
        if phase == stop:
            raise Killed

    with Directory(cells.mover_url) as directory:
        known = directory.move_of(cast.tenant_id) or begin(
            directory, cast.tenant_id, cells.a, cells.b, expire_uploads=False
        )
        one = TenantMove(directory, known, cells.a, cells.b, patience=NOW, report=report)
        with pytest.raises(Killed):
            one.run()


def assert_in_b(cells: Cells, cast: Cast, before: dict[str, int], objects: dict[str, bytes]) -> None:
    assert cells.rows(cells.a, cast.tenant_id) == {}
    assert cells.objects(cells.a, cast.tenant_id) == {}
    assert cells.rows(cells.b, cast.tenant_id) == before
    assert cells.objects(cells.b, cast.tenant_id) == objects


def test_everything_of_a_tenant_arrives_and_nothing_stays(cells: Cells, acme: Cast, globex: Cast) -> None:
    video_id, others_video = furnished(cells, acme), furnished(cells, globex)
    before, others = cells.rows(cells.a, acme.tenant_id), cells.rows(cells.a, globex.tenant_id)
    objects, graph = cells.objects(cells.a, acme.tenant_id), topology(acme, video_id)
    with acme.scope():
        months = list(UsageMonth.objects.values_list("month", "tokens", "seconds", "cost"))

    questions_before = acme.client.get("/v1/questions").json()

    printed = move(acme)

    assert printed.splitlines() == [f"{acme.slug}: {phase}" for phase in (*STOPS, "done")]
    assert_in_b(cells, acme, before, objects)
    assert cells.rows(cells.a, globex.tenant_id) == others
    assert cells.rows(cells.b, globex.tenant_id) == {}
    assert len(cells.objects(cells.a, globex.tenant_id)) == 2
    assert topology(globex, others_video).events
    with cells.inside_b():
        assert topology(acme, video_id) == graph
        assert graph.relations
        with acme.scope():
            assert index_faults(Video.objects.get(id=video_id), 1) == []
            assert list(UsageMonth.objects.values_list("month", "tokens", "seconds", "cost")) == months
            assert months
        assert acme.client.get("/v1/questions").json() == questions_before
        lease = claim_next("cpu.probe", worker="b")
        assert lease is not None
        with acme.scope():
            assert Job.objects.get(id=lease.job_id).dedupe_key == "waiting"
    with Directory(cells.mover_url) as directory:
        moved = directory.move_of(acme.tenant_id)
        assert directory.place_of(acme.slug).cell == "b"
        assert moved is not None
        assert (moved.counts["ekg_event"], moved.counts["ekg.Event"], moved.counts["objects"]) == (3, 3, 2)
    assert acme.client.get("/v1/videos").status_code == 401


def test_an_aborted_move_leaves_the_tenant_where_it_was(cells: Cells, acme: Cast) -> None:
    furnished(cells, acme)
    before, objects = cells.rows(cells.a, acme.tenant_id), cells.objects(cells.a, acme.tenant_id)
    killed_at("rows copied", cells, acme)

    move(acme, abort=True)

    assert cells.rows(cells.a, acme.tenant_id) == before
    assert cells.objects(cells.a, acme.tenant_id) == objects
    assert cells.rows(cells.b, acme.tenant_id) == {}
    assert cells.objects(cells.b, acme.tenant_id) == {}
    assert acme.client.get("/v1/videos").status_code == 200
    with Directory(cells.mover_url) as directory:
        assert not directory.place_of(acme.slug).moving


def test_a_move_that_has_copied_everything_cannot_be_aborted(cells: Cells, acme: Cast) -> None:
    place(cells, acme)
    killed_at("opening", cells, acme)

    with pytest.raises(CommandError, match="it can only go on"):
        move(acme, abort=True)


def test_a_tenant_that_moves_is_answered_503_and_begins_no_job(cells: Cells, acme: Cast, globex: Cast) -> None:
    furnished(cells, acme)
    furnished(cells, globex)
    killed_at("copying", cells, acme)

    reply = acme.client.get("/v1/videos")
    assert (reply.status_code, reply.json()["code"], reply["Retry-After"]) == (503, "tenant_moving", "2")
    assert globex.client.get("/v1/videos").status_code == 200
    lease = claim_next("cpu.probe", worker="a")
    assert lease is not None
    assert lease.tenant_id == globex.tenant_id
    assert claim_next("cpu.probe", worker="a") is None


def test_a_worker_that_outlives_the_fence_commits_nothing(cells: Cells, acme: Cast) -> None:
    """Its lease is taken back before the copy; the job runs again in the new cell."""
    furnished(cells, acme)
    lease = claim_next("cpu.probe", worker="slow")
    assert lease is not None
    killed_at("fenced", cells, acme)

    with pytest.raises(TenantMoving), checkpoint(lease):
        complete(lease)
    move(acme)

    with cells.inside_b(), acme.scope():
        job = Job.objects.get(id=lease.job_id)
        assert (job.state, job.attempt, job.lease_token) == (JobState.QUEUED, 0, lease.token + 1)


def test_a_copy_that_is_not_equal_is_not_opened(cells: Cells, acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    furnished(cells, acme)
    monkeypatch.setattr("backend.cells.move.copy_graph", lambda source, target: None)

    with pytest.raises(CommandError, match=r"differ in ekg\.Entity, ekg\.Event, ekg\.NEXT"):
        move(acme)

    assert cells.rows(cells.b, acme.tenant_id) == {}
    with Directory(cells.mover_url) as directory:
        assert directory.place_of(acme.slug).cell == "a"


def test_what_hinders_a_move(cells: Cells, acme: Cast) -> None:
    with pytest.raises(CommandError, match="has no tenant"):
        move(acme)
    place(cells, acme)
    with pytest.raises(CommandError, match="lives in a already"):
        move(acme, "a")
    with pytest.raises(CommandError, match="has no cell c"):
        move(acme, "c")
    begun = acme.client.post(
        "/v1/uploads", {"filename": f"{uuid4()}.mp4", "size_bytes": 10, "content_type": "video/mp4"}
    )
    assert begun.status_code == 201, begun.content
    with pytest.raises(CommandError, match="1 uploads are unfinished"):
        move(acme)
    move(acme, expire_uploads=True)
    with Directory(cells.mover_url) as directory:
        assert directory.place_of(acme.slug).cell == "b"
