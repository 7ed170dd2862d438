"""The Python client on the real service: uploads that are cut, busy replies, and one bill for one question."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

import httpx
import pytest
from ava_cloud import AsyncAva, Ava, Retries, errors, models, operations, webhooks
from django.db import connections
from standardwebhooks import Webhook

from backend.api.public_ids import decode
from backend.library.models import Upload, Video
from backend.questions.models import Question
from tests.api.servers import PROJECT, ServerProcess
from tests.api.test_documented_calls import answering, indexed_video
from tests.clients.faults import FaultyNetwork, broken_reply, cut, lost_reply, refused
from tests.conftest import Cast

PATIENT = Retries(attempts=8, first_s=0.01, longest_s=0.1)
MIB = 1 << 20


def url(server: ServerProcess) -> str:
    return f"http://127.0.0.1:{server.port}"


def client(cast: Cast, server: ServerProcess, network: FaultyNetwork | None = None) -> Ava:
    return Ava(cast.key, base_url=url(server), retries=PATIENT, transport=network or httpx.HTTPTransport())


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A file of three parts."""
    path = tmp_path / "gate.mp4"
    path.write_bytes(os.urandom(MIB) * 34)
    return path


def test_a_file_arrives_in_parts_and_is_asked_about(acme: Cast, server: ServerProcess, large: Path) -> None:
    told: list[tuple[int, int]] = []
    with client(acme, server) as ava:
        video = ava.videos.upload(large, title="Gate", on_progress=lambda *at: told.append(at))
        indexed = indexed_video(acme)
        with answering(acme):
            answer = ava.ask("What does the man do?", video_ids=[indexed])

        assert (video.title, video.size_bytes) == ("Gate", 34 * MIB)
        assert told[-1] == (34 * MIB, 34 * MIB)
        assert [at for at, _ in told] == sorted(at for at, _ in told)
        assert (answer.status, answer.finish_reason) == ("succeeded", "answered")
        assert answer.evidence[0].video_id == indexed
        assert [one.id for one in ava.videos.list()] == [indexed, video.id], "newest first"
        assert ava.videos.captions(indexed).startswith("WEBVTT")
        assert b"What does the man do?" in ava.report(answer.id)
        with pytest.raises(errors.Conflict) as early:
            ava.clip(video.id, 0, 5_000)
        assert early.value.code == "not_probed", "no worker runs here"


def test_cut_connections_and_busy_replies_make_one_video_and_one_question(
    acme: Cast, server: ServerProcess, large: Path
) -> None:
    busy = refused(429, "rate_limited", **{"retry-after": "0"})
    network = FaultyNetwork(
        [
            ("POST /v1/uploads", lost_reply),
            ("PUT ", cut),
            ("PUT ", broken_reply(500)),
            ("POST /v1/uploads/upl_", busy),
            ("POST /v1/questions", busy),
            ("POST /v1/questions", refused(503, "unavailable", **{"retry-after": "0"})),
            ("POST /v1/questions", lost_reply),
            ("POST /v1/questions", broken_reply(502)),
        ]
    )
    indexed = indexed_video(acme)
    with client(acme, server, network) as ava, answering(acme):
        ava.videos.upload(large)
        ava.ask("What does the man do?", video_ids=[indexed])

    assert network.quiet
    with acme.scope():
        assert Upload.objects.count() == 1
        assert Video.objects.count() == 2, "the uploaded one, and the one that is asked about"
        assert Question.objects.filter(text="What does the man do?").count() == 1


def test_a_commit_that_ends_in_500_makes_one_video(acme: Cast, server: ServerProcess, tmp_path: Path) -> None:
    clip = tmp_path / "clip.mp4"
    clip.write_bytes(bytes(MIB))

    class LostCommit(FaultyNetwork):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.url.path.endswith("/complete") and self.sent.count("lost") < 2:
                self.sent.append("lost")
                return broken_reply(500)(request, lambda: self._real.handle_request(request))
            return super().handle_request(request)

    network = LostCommit([])
    with client(acme, server, network) as ava:
        video = ava.videos.upload(clip)

    assert network.sent.count("lost") == 2
    with acme.scope():
        assert [one.id for one in Video.objects.all()] == [decode("vid", video.id)]


KILLED = """
import os, sys
from pathlib import Path
from ava_cloud import Ava
def stop(sent, size):
    if sent >= 20 << 20:
        print("far enough", flush=True)
        os.kill(os.getpid(), 9)
with Ava(sys.argv[1], base_url=sys.argv[2]) as ava:
    ava.videos.upload(Path(sys.argv[3]), title="Gate", on_progress=stop, parts_at_once=1)
"""


def test_an_upload_that_was_killed_goes_on_with_the_missing_parts(
    acme: Cast, server: ServerProcess, large: Path
) -> None:
    source = PROJECT / "frontend_api_schema" / "python" / "src"
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, acme.key, url(server), str(large)],
        env=os.environ | {"PYTHONPATH": str(source)}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (killed.returncode, killed.stdout) == (-signal.SIGKILL, "far enough\n"), killed.stderr
    told: list[int] = []

    with client(acme, server) as ava:
        first = ava.videos.upload(large, title="Gate", on_progress=lambda sent, size: told.append(sent))
        again = ava.videos.upload(large, title="Gate")

    assert told[0] >= 16 * MIB, "what had arrived is not sent again"
    assert first.id == again.id, "a file that has arrived is the same video"
    with acme.scope():
        assert Upload.objects.count() == 1


def test_the_asyncio_client_does_the_same(acme: Cast, server: ServerProcess, large: Path) -> None:
    indexed = indexed_video(acme)

    async def use() -> tuple[str, list[str], list[str]]:
        async with AsyncAva(acme.key, base_url=url(server), retries=PATIENT) as ava:
            video = await ava.videos.upload(large)
            types = [event.type async for event in ava.ask_stream("What does the man do?", video_ids=[indexed])]
            listed = [one.id async for one in ava.videos.list()]
            await ava.videos.wait_ready(indexed)
            return video.id, types, listed

    with answering(acme):
        sent, types, listed = asyncio.run(use())

    assert types[-1] == "answer"
    assert sorted(listed) == sorted([sent, indexed])


def test_results_of_a_batch_are_read_as_lines(acme: Cast, server: ServerProcess) -> None:
    indexed, texts = indexed_video(acme), ["Who comes?", "Who leaves?"]
    batches = operations.question_batches
    several = models.QuestionBatchRequest([models.BatchQuestionRequest(text) for text in texts], video_ids=[indexed])
    with client(acme, server) as ava, answering(acme):
        batch = batches.create_question_batch.sync(client=ava.api, body=several)
        while (ended := batches.get_question_batch.sync(batch.id, client=ava.api)).completed_at is None:
            time.sleep(0.2)
        lines = batches.list_question_batch_results.sync(batch.id, client=ava.api).splitlines()

    assert ended.status == "completed"
    assert [models.Question.from_dict(json.loads(line)).question for line in lines] == texts


def test_errors_say_what_a_program_branches_on(acme: Cast, globex: Cast, server: ServerProcess) -> None:
    others = indexed_video(globex)
    with client(acme, server) as ava:
        with pytest.raises(errors.NotFound) as foreign:
            ava.videos.get(others)
        with pytest.raises(errors.NotFound) as unknown:
            ava.videos.get("vid_1111111111111111111111")
        with pytest.raises(errors.InvalidRequest) as invalid:
            ava.ask("", video_ids=["nonsense"])
        with pytest.raises(errors.WaitTimeout):
            ava.videos.wait_ready(_queued(acme), timeout_s=0.1)
    with Ava("vk_live_nothing", base_url=url(server)) as stranger, pytest.raises(errors.NotAuthenticated):
        next(stranger.videos.list())

    assert (foreign.value.code, foreign.value.detail) == (unknown.value.code, unknown.value.detail)
    assert foreign.value.request_id.startswith("req_")
    assert {each.pointer.split("/")[1] for each in invalid.value.errors} == {"question", "video_ids"}


@pytest.mark.parametrize("stream", ["open", "refused"])
def test_a_wait_follows_the_stream_of_the_index_and_looks_by_itself_without_one(
    acme: Cast, server: ServerProcess, stream: str
) -> None:
    faults = [] if stream == "open" else [("GET /v1/index-jobs/", refused(429, "too_many_open_streams"))]
    network, video, told = FaultyNetwork(faults), _queued(acme), list[int]()

    def index() -> None:
        for ms, status in ((10_000, "indexing"), (30_000, "ready")):
            time.sleep(1.5)
            with acme.scope():
                Video.objects.filter(id=decode("vid", video)).update(indexed_until_ms=ms, status=status)
        connections.close_all()

    indexer = threading.Thread(target=index)
    with client(acme, server, network) as ava:
        indexer.start()
        ready = ava.videos.wait_ready(
            video, timeout_s=60, on_progress=lambda now: told.append(int(now.indexed_until_ms or 0))
        )
    indexer.join()

    assert ready.status == "ready"
    assert 10_000 in told
    assert network.quiet
    streams = [line for line in network.sent if line.endswith("/stream")]
    assert len(streams) == 1, "one stream for the whole wait, and none after it was refused"


def test_every_operation_can_be_reached_by_its_group(acme: Cast, server: ServerProcess) -> None:
    with client(acme, server) as ava:
        limits = operations.budget.get_limits.sync(client=ava.api)

    assert limits.plan == "standard"
    with pytest.raises(AttributeError, match="no operation 'nonsense'"):
        operations.budget.nonsense  # noqa: B018 - it is what raises


def _queued(acme: Cast) -> str:
    from backend.api.public_ids import encode
    from tests.questions.world import ask

    _, video_id = ask(acme)
    with acme.scope():
        Video.objects.filter(id=video_id).update(status="queued")
    return encode("vid", video_id)


class _Proxy(BaseHTTPRequestHandler):
    """A forward proxy that answers by itself."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def test_the_proxy_of_the_environment_is_used_unless_it_says_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Proxy) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.server_port}")
        once = Retries(attempts=1)
        with Ava("k", base_url="http://ava.invalid", retries=once) as ava, pytest.raises(errors.ApiError):
            ava.videos.get("vid_1")
        assert [urlsplit(path).netloc for path in _Proxy.asked] == ["ava.invalid"]
        monkeypatch.setenv("no_proxy", "ava.invalid")
        with Ava("k", base_url="http://ava.invalid", retries=once) as ava, pytest.raises(errors.Unreachable):
            ava.videos.get("vid_1")
        proxy.shutdown()
    assert len(_Proxy.asked) == 1


def test_a_request_without_a_reply_keeps_its_key(acme: Cast) -> None:
    with (
        Ava(acme.key, base_url="http://127.0.0.1:9", retries=Retries(attempts=2, first_s=0.01)) as ava,
        pytest.raises(errors.Unreachable) as caught,
    ):
        ava.search("a red car", idempotency_key="mine")

    assert caught.value.key == "mine"


def test_deliveries_are_unwrapped_only_with_a_fresh_signature() -> None:
    secret, body, now = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"type":"video.ready"}', time.time()
    signature = Webhook(secret).sign("msg_1", datetime.fromtimestamp(int(now), UTC), body.decode())
    headers = {"Webhook-Id": "msg_1", "Webhook-Timestamp": str(int(now)), "Webhook-Signature": f"v1,zzz {signature}"}

    assert webhooks.unwrap(body, headers, secret, now_s=now) == {"type": "video.ready"}
    for wrong in (
        {"body": body + b" "},
        {"now_s": now + 301},
        {"headers": {name: value for name, value in headers.items() if name != "Webhook-Id"}},
        {"secret": "whsec_AAAA"},
    ):
        given = {"body": body, "headers": headers, "secret": secret, "now_s": now} | wrong
        with pytest.raises(webhooks.InvalidSignature):
            webhooks.unwrap(given["body"], given["headers"], given["secret"], now_s=given["now_s"])
