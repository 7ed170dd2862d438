"""Streams and waiting requests end when their key is revoked or their tenant suspended, and nobody else's do."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import connections

from backend.tenancy.services import issue_api_key, revoke_api_key
from tests.api.servers import Connection, ServerProcess
from tests.api.test_serving import stream, wait
from tests.conftest import Cast
from tests.factories import make_video
from tests.questions.world import ask

LAST_CHUNK = b"\r\n0\r\n\r\n"


def is_open(stream: Connection) -> bool:
    """Whether nothing but news of the question has come."""
    stream._socket.settimeout(0.2)
    try:
        while more := stream._socket.recv(65_536):
            stream.received += more
    except TimeoutError:
        return LAST_CHUNK not in stream.received
    return False


@pytest.mark.long
def test_open_replies_end_with_their_caller(server: ServerProcess, acme: Cast, globex: Cast) -> None:
    asked, _ = ask(acme)
    theirs, _ = ask(globex)
    with acme.scope():
        key, text = issue_api_key(name="leaked", scopes=["questions:read", "questions:write", "videos:read"])
        video = make_video(indexed_until_ms=30_000).id
    leaked = Cast(acme.tenant_id, acme.slug, text, key.id)
    connections.close_all()
    mine, held = stream(server, leaked, asked), wait(server, leaked, video, "127.0.0.1")
    changes = Connection(server.port, "GET", "/v1/stream?topics=videos,questions", text, Accept="text/event-stream")
    changes.read_until(b"retry: ")
    same_tenant, other_tenant = stream(server, acme, asked), stream(server, globex, theirs)
    for opened in (mine, same_tenant, other_tenant):
        opened.read_until(b"event: progress")

    with acme.scope():
        revoke_api_key(api_key_id=key.id)

    mine.read_until(LAST_CHUNK)
    changes.read_until(LAST_CHUNK)
    assert b" 401 " in held.read_until(b"invalid_api_key")
    assert (is_open(same_tenant), is_open(other_tenant)) == (True, True)

    call_command("suspend_tenant", acme.slug, "--reason", "stolen keys", verbosity=0)

    same_tenant._socket.settimeout(90)
    same_tenant.read_until(LAST_CHUNK)
    assert is_open(other_tenant)
    assert all(b"event: answer" not in opened.received for opened in (mine, same_tenant))
    for opened in (mine, changes, held, same_tenant, other_tenant):
        opened.close()
