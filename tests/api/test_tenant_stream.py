"""GET /v1/stream: a doorbell for what the caller may see, which makes no statement while nothing changes."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from uuid import UUID

import psycopg
import pytest
from django.conf import settings
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from uuid6 import uuid7

from backend.api import changes
from backend.api.changes import Change, Changes
from backend.api.public_ids import encode
from backend.api.tenant_stream import MOST_HEARD, MOST_NAMED, TenantChanges, _topics
from backend.library.models import Collection, Video
from backend.tenancy.authentication import Principal
from backend.tenancy.services import issue_api_key
from tests.api.servers import Connection, ServerProcess
from tests.conftest import Cast
from tests.factories import make_video
from tests.questions.world import ask, finish

PATIENCE_S = 60


def stream(server: ServerProcess, cast: Cast, topics: str) -> Connection:
    opened = Connection(server.port, "GET", f"/v1/stream?topics={topics}", cast.key, Accept="text/event-stream")
    opened.read_until(b"retry: 2000\n\n")
    return opened


def rings(received: bytes) -> list[tuple[str, str | None]]:
    """Return kind and id of each ring, in order."""
    lines = [line for line in received.split(b"\n") if line.startswith(b"data: ")]
    found = [json.loads(line.removeprefix(b"data: ")) for line in lines]
    return [(ring["kind"], ring["id"]) for ring in found]


def heard_by(cast: Cast, *heard: Change | None, collections: tuple[UUID, ...] | None = None) -> bytes:
    """Return what a stream of all topics sends for these changes."""
    caller = Principal(cast.tenant_id, cast.key_id, frozenset({"*"}), collections=collections)
    stream = TenantChanges(caller, list(_topics.values()))
    stream.look()
    for change in heard:
        stream.hear(change)
    return stream.look()


def change(cast: Cast, kind: str, id: UUID, *, version: int = 7, deleted: bool = False) -> Change:
    return Change(cast.tenant_id, kind, id, version, deleted)


def test_each_change_rings_once_it_is_committed(server: ServerProcess, acme: Cast) -> None:
    mine = stream(server, acme, "videos,questions,collections")
    questions_alone = stream(server, acme, "questions")
    with acme.scope():
        collection = Collection.objects.create(tenant_id=acme.tenant_id, name="Park")
    named = encode("col", collection.id)
    mine.read_until(f'"kind":"collection","id":"{named}"'.encode())
    asked, video_id = ask(acme)
    video, question = encode("vid", video_id), encode("qst", asked)
    mine.read_until(video.encode())
    mine.read_until(question.encode())
    finish(acme, asked, video_id)
    mine.read_until(b'"kind":"question"')
    with acme.scope():
        Video.objects.filter(id=video_id).update(indexed_until_ms=31_000)
        Collection.objects.filter(id=collection.id).delete()
    mine.read_until(b'"kind":"collection","id":null')
    questions_alone.read_until(question.encode())
    assert {kind for kind, _ in rings(questions_alone.received)} == {"question"}
    ids = [line.removeprefix(b"id: ") for line in mine.received.split(b"\n") if line.startswith(b"id: ")]
    assert len(ids) == len(rings(mine.received))
    assert all(id.isdigit() for id in ids)
    for opened in (mine, questions_alone):
        opened.close()


def test_a_stream_that_begins_gets_the_changes_of_the_last_seconds(server: ServerProcess, acme: Cast) -> None:
    witness = stream(server, acme, "videos")
    with acme.scope():
        video = make_video()
    witness.read_until(encode("vid", video.id).encode())
    late = [stream(server, acme, "videos") for _ in range(4)]  # in either process
    for opened in late:
        opened.read_until(encode("vid", video.id).encode())
    for opened in (witness, *late):
        opened.close()


def test_wrong_topics_are_refused_before_the_stream(acme: Cast) -> None:
    client = acme.client
    for query in ("", "?topics=", "?topics=videos,secrets", "?topics=videos&since=1"):
        refused = client.get(f"/v1/stream{query}")
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request"), query
    assert "videos, collections, questions" in client.get("/v1/stream?topics=secrets").json()["errors"][0]["detail"]
    with acme.scope():
        text = issue_api_key(name="watcher", scopes=["videos:read"])[1]
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    refused = client.get("/v1/stream?topics=videos,questions")
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    allowed = client.get("/v1/stream?topics=videos,collections")
    assert (allowed.status_code, allowed.headers["Content-Type"]) == (200, "text/event-stream")
    allowed.reply.close()


def test_a_limited_member_hears_of_its_own_collections(acme: Cast) -> None:
    with acme.scope():
        park, gate = (Collection.objects.create(tenant_id=acme.tenant_id, name=name).id for name in ("Park", "Gate"))
        seen, hidden = make_video(collection_id=park).id, make_video(collection_id=gate).id
    heard = [change(acme, "video", seen), change(acme, "video", hidden)]
    heard += [change(acme, "collection", park), change(acme, "collection", gate)]

    rung = rings(heard_by(acme, *heard, collections=(park,)))

    assert sorted(rung) == [("collection", encode("col", park)), ("video", encode("vid", seen))]


def test_what_is_gone_or_too_much_rings_without_ids(acme: Cast) -> None:
    with acme.scope():
        video = make_video().id
    gone = change(acme, "video", uuid7(), version=9, deleted=True)
    assert rings(heard_by(acme, change(acme, "video", video), gone)) == [
        ("video", encode("vid", video)), ("video", None),
    ]  # fmt: skip
    unknown = [change(acme, "question", uuid7()) for _ in range(MOST_NAMED + 1)]
    assert rings(heard_by(acme, *unknown)) == [("question", None)]
    assert rings(heard_by(acme, None)) == [("video", None), ("collection", None), ("question", None)]
    many = [change(acme, "video", video) for _ in range(MOST_HEARD + 1)]
    assert {kind for kind, id in rings(heard_by(acme, *many)) if id is None} == {"video", "collection", "question"}


def test_rings_of_one_thing_are_gathered(acme: Cast) -> None:
    with acme.scope():
        video = make_video().id
    sent = heard_by(acme, change(acme, "video", video, version=7), change(acme, "video", video, version=8))
    assert sent == (
        f'id: 8\nevent: changed\ndata: {{"kind":"video","id":"{encode("vid", video)}","version":8}}\n\n'.encode()
    )


def test_a_look_at_an_idle_stream_makes_no_statement(acme: Cast) -> None:
    caller = Principal(acme.tenant_id, acme.key_id, frozenset({"*"}))
    idle = TenantChanges(caller, list(_topics.values()))
    with CaptureQueriesContext(connection) as made:
        looks = [idle.look() for _ in range(3)]
    assert looks == [b"retry: 2000\n\n", b"", b""]
    assert len(made) == 0


def listen(cast: Cast, work: Callable[[], None], *, until: int) -> list[Change | None]:
    """Return what a tenant's watch has heard, from the first connection on, once it is as much as that."""
    heard: list[Change | None] = []

    def hear(change: Change | None) -> bool:
        heard.append(change)
        return True

    def in_a_thread() -> None:
        try:
            work()
        finally:
            connections.close_all()

    async def heard_all() -> None:
        changes = Changes()
        listening = asyncio.create_task(changes.listen())
        async with asyncio.timeout(PATIENCE_S):
            with changes.of(cast.tenant_id, hear) as rung:
                await rung.wait()
                await asyncio.to_thread(in_a_thread)
                while len(heard) < until:
                    await asyncio.sleep(0.01)
        listening.cancel()

    asyncio.run(heard_all())
    return heard


def test_the_trials_of_the_connection_lose_no_notice(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "TRY_SECONDS", 0.05)

    def make() -> None:
        for number in range(200):
            with acme.scope():
                Collection.objects.create(tenant_id=acme.tenant_id, name=f"Park {number}")

    first, *heard = listen(acme, make, until=201)

    versions = [change.version for change in heard if change]
    assert first is None
    assert len(set(versions)) == 200
    assert versions == sorted(versions)


def test_a_lost_connection_says_that_changes_may_have_been_missed(acme: Cast) -> None:
    def end_the_connection() -> None:
        with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"], autocommit=True) as superuser:
            superuser.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = %s AND application_name = 'ava-changes'",
                [settings.DATABASES["default"]["NAME"]],
            )

    assert listen(acme, end_the_connection, until=2) == [None, None]
