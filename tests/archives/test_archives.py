"""A tenant leaves one installation in a file and arrives in another: all of it or nothing, and nothing of others."""

from __future__ import annotations

import json
import zipfile
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.core.management import CommandError, call_command

from backend.archives import importing
from backend.archives.people_rows import LEFT, PARTS, PERSON
from backend.archives.tenant_rows import owner_transaction, tables
from backend.billing.models import UsageMonth
from backend.ekg.graph_store import GraphStore
from backend.ekg.invariants import index_faults
from backend.ekg.models import FrameVector
from backend.jobs.dispatching import claim_next
from backend.jobs.leases import checkpoint, complete
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import enqueue
from backend.library.models import Video
from backend.library.storage import ObjectStorage
from backend.people.models import Person
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import TenantMoving
from tests.archives.world import Installations
from tests.conftest import Cast
from tests.ekg.test_invariants import sound_video
from tests.people.cast import PASSWORD, Browser, make_staff, member_of, person
from tests.questions.world import ask, finish

CHANGED = {"jobs_job", "library_upload", "tenancy_tenant"}
"""Tables of which an import changes rows: what ran, what was being uploaded, what was closed."""


def furnished(cast: Cast) -> UUID:
    """Give a tenant an index with its graph, an answered question that was billed, a waiting job and two objects."""
    video_id = sound_video(cast)
    finish(cast, *ask(cast))
    with cast.scope():
        enqueue(kind=JobKind.PROBE_VIDEO, subject_id=video_id, dedupe_key="waiting")
    for name in ("u/1/source", "v/1/1/frames/0.jpg"):
        ObjectStorage().put(f"t/{cast.tenant_id}/{name}", name.encode(), content_type="image/jpeg")
    return video_id


def with_everything(cast: Cast) -> Person:
    """A member with a second address, a second factor and an identity at a provider."""
    who = person()
    EmailAddress.objects.create(user=who, email=f"second-{who.email}", verified=False, primary=False)
    Authenticator.objects.create(user=who, type="totp", data={"secret": "JBSWY3DPEHPK3PXP"})
    SocialAccount.objects.create(user=who, provider="openid_connect", uid=f"uid-{who.id}", extra_data={"sub": "7"})
    member_of(cast, "owner", who)
    return who


def exported(cast: Cast, folder: Path, **options: Any) -> Path:
    call_command("export_tenant", cast.slug, to=str(folder), drain=0, stdout=StringIO(), **options)
    return folder / f"{cast.slug}.zip"


def load(path: Path) -> None:
    call_command("import_tenant", str(path), stdout=StringIO())


def rewritten(path: Path, change: dict[str, bytes]) -> Path:
    """Return a copy of an archive in which some members have other bytes."""
    copy = path.with_name("rewritten.zip")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(copy, "w") as new:
        for name in old.namelist():
            new.writestr(name, change.get(name, old.read(name)))
    return copy


def topology(cast: Cast, video_id: UUID) -> Any:
    with cast.scope():
        return GraphStore().topology(video_id, 1)


def vectors(cast: Cast) -> list[Any]:
    with cast.scope():
        return [(row.id, list(row.embedding)) for row in FrameVector.objects.order_by("id")]


def test_everything_of_a_tenant_arrives_and_nothing_of_another(
    installations: Installations, acme: Cast, globex: Cast, tmp_path: Path
) -> None:
    video_id, _ = furnished(acme), furnished(globex)
    graph, embeddings = topology(acme, video_id), vectors(acme)
    objects = installations.objects(installations.a, acme.tenant_id)
    with acme.scope():
        months = list(UsageMonth.objects.values_list("month", "tokens", "seconds", "cost"))
    questions = acme.client.get("/v1/questions").json()
    before = installations.rows(installations.a, acme.tenant_id)

    path = exported(acme, tmp_path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with installations.inside_b():
        load(path)
        after = installations.rows(installations.b, acme.tenant_id)

        assert topology(acme, video_id) == graph
        assert graph.relations
        assert vectors(acme) == embeddings
        assert embeddings
        with acme.scope():
            assert index_faults(Video.objects.get(id=video_id), 1) == []
            assert list(UsageMonth.objects.values_list("month", "tokens", "seconds", "cost")) == months
            assert months
        assert acme.client.get("/v1/questions").json() == questions
        lease = claim_next("cpu.probe", worker="b")
        assert lease is not None
        with acme.scope():
            assert Job.objects.get(id=lease.job_id).dedupe_key == "waiting"

    exported_rows = {name: value for name, value in before.items() if name not in CHANGED}
    assert {name: after.get(name) for name in exported_rows} == exported_rows
    assert installations.objects(installations.b, acme.tenant_id) == objects
    assert len(objects) == 2
    assert not [name for name, body in members.items() if str(globex.tenant_id).encode() in body]
    assert installations.is_empty_of(installations.b, globex.tenant_id)
    assert acme.client.get("/v1/videos").status_code == 200, "an export alone stops nothing"
    assert path.stat().st_mode & 0o077 == 0


def test_a_tenant_that_leaves_is_closed_and_its_running_job_runs_again_there(
    installations: Installations, acme: Cast, globex: Cast, tmp_path: Path
) -> None:
    furnished(acme)
    lease = claim_next("cpu.probe", worker="slow")
    assert lease is not None
    begun = acme.client.post("/v1/uploads", {"filename": "a.mp4", "size_bytes": 10, "content_type": "video/mp4"})
    assert begun.status_code == 201, begun.content

    path = exported(acme, tmp_path, close=True)

    reply = acme.client.get("/v1/videos")
    assert (reply.status_code, reply.json()["code"], reply["Retry-After"]) == (503, "tenant_moving", "2")
    assert globex.client.get("/v1/videos").status_code == 200
    with pytest.raises(TenantMoving), checkpoint(lease):
        complete(lease)
    with installations.inside_b():
        load(path)
        assert acme.client.get("/v1/videos").status_code == 200
        upload = acme.client.get(f"/v1/uploads/{begun.json()['id']}").json()
        assert upload["status"] == "expired"
        with acme.scope():
            job = Job.objects.get(id=lease.job_id)
            assert (job.state, job.attempt, job.lease_token) == (JobState.QUEUED, 0, lease.token + 1)

    call_command("export_tenant", acme.slug, reopen=True, stdout=StringIO())
    assert acme.client.get("/v1/videos").status_code == 200


def test_members_arrive_with_their_accounts_and_sign_in_there(
    installations: Installations, acme: Cast, globex: Cast, tmp_path: Path
) -> None:
    who, stranger = with_everything(acme), with_everything(globex)

    path = exported(acme, tmp_path)

    with zipfile.ZipFile(path) as archive:
        people = b"".join(archive.read(name) for name in archive.namelist() if name.startswith("people/"))
    assert str(who.id).encode() in people
    assert str(stranger.id).encode() not in people
    with installations.inside_b():
        load(path)
        arrived = Person.objects.get(id=who.id)
        assert arrived.check_password(PASSWORD)
        assert EmailAddress.objects.filter(user=arrived).count() == 2
        assert Authenticator.objects.get(user=arrived).data == {"secret": "JBSWY3DPEHPK3PXP"}
        assert SocialAccount.objects.get(user=arrived).extra_data == {"sub": "7"}
        assert Browser(arrived, acme.slug).api("get", "/v1/videos").status_code == 200


@pytest.mark.parametrize("is_staff", [False, True])
def test_an_address_of_another_person_there_refuses_the_import(
    installations: Installations, acme: Cast, tmp_path: Path, *, is_staff: bool
) -> None:
    who = with_everything(acme)
    path = exported(acme, tmp_path)
    with installations.inside_b():
        other = Person.objects.create_user(who.email, PASSWORD)
        if is_staff:
            make_staff(other)
        with pytest.raises(CommandError, match="belongs to another person in this installation"):
            load(path)
        assert not Person.objects.filter(id=who.id).exists()
    assert installations.is_empty_of(installations.b, acme.tenant_id)


def test_no_archive_brings_staff(installations: Installations, acme: Cast, tmp_path: Path) -> None:
    with_everything(acme)
    path = exported(acme, tmp_path)
    with zipfile.ZipFile(path) as archive:
        name = f"people/{PERSON}.csv"
        header, row = archive.read(name).decode().splitlines()
    columns = header.split(",")
    values = row.split(",")
    values[columns.index("is_superuser")] = "t"
    forged = rewritten(path, {name: f"{header}\n{','.join(values)}\n".encode()})
    with installations.inside_b(), pytest.raises(CommandError, match="an account of staff"):
        load(forged)
    assert installations.is_empty_of(installations.b, acme.tenant_id)


def test_a_tenant_that_exists_is_not_imported(installations: Installations, acme: Cast, tmp_path: Path) -> None:
    path = exported(acme, tmp_path)
    before = installations.rows(installations.a, acme.tenant_id)

    with pytest.raises(CommandError, match=f"the tenant {acme.slug} exists"):
        load(path)

    assert installations.rows(installations.a, acme.tenant_id) == before


def test_an_import_that_fails_at_any_step_leaves_nothing_and_can_be_repeated(
    installations: Installations, acme: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    furnished(acme)
    path = exported(acme, tmp_path)

    class Killed(Exception):
        pass

    def killed(*args: Any) -> None:
        raise Killed

    with installations.inside_b():
        for step in ("load_people", "build_graph", "graph_sums"):
            with monkeypatch.context() as patched:
                patched.setattr(importing, step, killed)
                with pytest.raises(Killed):
                    load(path)
            assert installations.is_empty_of(installations.b, acme.tenant_id)
        with monkeypatch.context() as patched:
            patched.setattr(importing, "build_graph", lambda connection: None)
            with pytest.raises(CommandError, match=r"differs .* in ekg\.Entity"):
                load(path)
        assert installations.is_empty_of(installations.b, acme.tenant_id)
        load(path)
    assert installations.rows(installations.b, acme.tenant_id)


def test_damaged_and_foreign_archives_are_refused(installations: Installations, acme: Cast, tmp_path: Path) -> None:
    video_id = furnished(acme)
    path = exported(acme, tmp_path)
    whole = path.read_bytes()
    manifest = json.loads(zipfile.ZipFile(path).read("manifest.json"))
    name = "rows/ekg_event.csv"
    events = zipfile.ZipFile(path).read(name)
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    at = zipfile.ZipFile(path).getinfo("objects/u/1/source").header_offset + 72
    (tmp_path / "flipped.zip").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    other_format = json.dumps({**manifest, "format": 2}).encode()
    other_release = json.dumps({**manifest, "shared": {**manifest["shared"], "migrations": "x"}}).encode()
    cases = [
        (lambda: tmp_path / "none.zip", "cannot be read"),
        (lambda: tmp_path / "cut.zip", "damaged or no archive"),
        (lambda: tmp_path / "flipped.zip", "damaged or no archive"),
        (lambda: rewritten(path, {"manifest.json": other_format}), "format 2"),
        (lambda: rewritten(path, {"manifest.json": b"{}"}), "format None"),
        (lambda: rewritten(path, {"manifest.json": b"{"}), "manifest is not valid"),
        (lambda: rewritten(path, {"manifest.json": other_release}), "differ in migrations"),
        (lambda: rewritten(path, {name: events.rsplit(b"\n", 2)[0] + b"\n"}), "Nothing was imported"),
        (lambda: rewritten(path, {name: events.replace(b"video_id", b"video_ix")}), "the archive is damaged"),
        (lambda: rewritten(path, {"rows/audit_auditevent.csv": b""}), "Nothing was imported"),
        (lambda: rewritten(path, {"objects/u/1/source": b"other"}), "another size"),
    ]
    with installations.inside_b():
        for made, words in cases:
            with pytest.raises(CommandError, match=words):
                load(made())
            assert installations.is_empty_of(installations.b, acme.tenant_id), words
    assert topology(acme, video_id).events


def test_a_row_of_another_tenant_in_an_archive_is_refused(
    installations: Installations, acme: Cast, globex: Cast, tmp_path: Path
) -> None:
    furnished(acme)
    path = exported(acme, tmp_path)
    name = "rows/library_video.csv"
    videos = zipfile.ZipFile(path).read(name)
    forged = rewritten(path, {name: videos.replace(str(acme.tenant_id).encode(), str(globex.tenant_id).encode())})

    with installations.inside_b(), pytest.raises(CommandError, match="row-level security"):
        load(forged)

    assert installations.is_empty_of(installations.b, acme.tenant_id)
    assert installations.is_empty_of(installations.b, globex.tenant_id)


def test_a_customers_own_copy_has_no_accounts_and_is_not_imported(
    installations: Installations, acme: Cast, tmp_path: Path
) -> None:
    with_everything(acme)
    path = exported(acme, tmp_path, without_accounts=True)

    with zipfile.ZipFile(path) as archive:
        assert not [name for name in archive.namelist() if name.startswith("people/")]
    with installations.inside_b(), pytest.raises(CommandError, match="without its members' accounts"):
        load(path)


def test_objects_can_be_copied_ahead(installations: Installations, acme: Cast, tmp_path: Path) -> None:
    furnished(acme)
    path = exported(acme, tmp_path, without_objects=True)

    with installations.inside_b():
        with pytest.raises(CommandError, match="the bucket lacks 2 of them"):
            load(path)
        for key, body in installations.objects(installations.a, acme.tenant_id).items():
            installations.storage.put_object(Bucket=installations.buckets[installations.b], Key=key, Body=body)
        load(path)

    assert installations.objects(installations.b, acme.tenant_id)


def test_an_export_that_fails_leaves_no_file(
    installations: Installations, acme: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    furnished(acme)
    with monkeypatch.context() as patched:
        patched.setattr(ObjectStorage, "chunks", lambda self, key: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(CommandError, match="left no file: disk full"):
            exported(acme, tmp_path)
    assert list(tmp_path.iterdir()) == []

    exported(acme, tmp_path)
    with pytest.raises(CommandError, match="exists; name another file"):
        exported(acme, tmp_path)


SHARED_BY_NAME = {
    "tenancy_tenant": "is exported itself",
    "billing_pricebook": "must be equal in both installations",
    "billing_planversion": "must be equal in both installations",
    "billing_legalentity": "must have the same codes in both installations",
}
"""Tables without the policy of tenants that rows of tenants refer to, with the reason why the reference holds."""
NOT_OF_A_TENANT = {
    "people_departure": "whom the API of the installation looks at next",
    "staff_contentaccess": "what staff opened, kept by the installation where it was opened",
    "billing_pricebook": "a tenant's own prices, which both installations have before the import",
}
"""Tables with the column tenant_id that are not exported, with the reason."""


def test_every_table_of_tenants_and_every_reference_out_of_them_is_exported_or_named(acme: Cast) -> None:
    with owner_transaction(acme.tenant_id, snapshot=True) as rows:
        kept = {table.name for table in tables(rows)}
        with_tenant = {
            name
            for (name,) in rows.execute(
                "SELECT relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
                "WHERE a.attname = 'tenant_id' AND relnamespace = 'public'::regnamespace "
                "AND relkind IN ('r', 'p') AND NOT relispartition"
            )
        }
        references = rows.execute(
            "SELECT k.conrelid::regclass::text, k.confrelid::regclass::text FROM pg_constraint k "
            "WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace AND k.conparentid = 0"
        ).fetchall()
    assert with_tenant - kept <= set(NOT_OF_A_TENANT), with_tenant - kept
    outward = {target for source, target in references if source in kept and target not in kept}
    assert outward <= {PERSON, *SHARED_BY_NAME}, outward
    of_people = {source for source, target in references if target == PERSON and source not in kept}
    assert of_people <= {*PARTS, *LEFT}, of_people
    assert not set(PARTS) & set(LEFT)


def test_the_export_of_an_unknown_tenant_is_refused(acme: Cast, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no tenant with the slug nobody"):
        call_command("export_tenant", "nobody", to=str(tmp_path))
    assert Tenant.objects.using("dispatch").filter(id=acme.tenant_id, fence="").exists()
