"""Damaged, odd and hostile uploads against a whole service, through the public API: each ends clearly, none hangs."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra.local.api_key import key_file
from tests.e2e.service import Service, running_service
from tests.engine.indexing.media import grey, run_ffmpeg, solid, write_steady, write_video

pytestmark = [pytest.mark.slow, pytest.mark.long]

PARTS_OF_AN_INDEX = ("chunks", "events", "frames", "entities", "relations", "transcript", "objects")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    root = tmp_path_factory.mktemp("bad-input") / "root"
    with running_service(root, REASONER_URL="http://127.0.0.1:9/v1", REASONER_MODEL="none") as service:
        yield service


@pytest.fixture(scope="module")
def http(service: Service) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {key_file(service.root).read_text()}"}
    with httpx.Client(base_url=f"{service.url}/v1", headers=headers, timeout=60, trust_env=False) as client:
        yield client


@pytest.fixture(scope="module")
def endpoint_id(service: Service) -> str:
    """Register an endpoint where nobody listens, so that there is something to deliver."""
    wanted = {"url": "http://127.0.0.1:9/hook", "event_types": ["video.ready", "video.failed"]}
    return str(service.client().call("POST", "/webhook-endpoints", wanted)["id"])


def deliveries(service: Service, endpoint_id: str, video_id: str) -> list[str]:
    """Return the types of the events about this video that are delivered to the endpoint."""
    every = service.client().pages(f"/webhook-deliveries?endpoint_id={endpoint_id}")
    return [one["event_type"] for one in every if one["resource_id"] == video_id]


def problem(response: httpx.Response) -> tuple[int, str]:
    """Return status and code of a problem document."""
    assert response.headers["content-type"] == "application/problem+json", response.text
    body = response.json()
    assert body["status"] == response.status_code
    assert body["detail"]
    return response.status_code, body["code"]


# --- files that cannot be indexed -------------------------------------------------------------------------------------


def text(path: Path) -> None:
    path.write_text("Dear customer, this is not a video.\n" * 200)


def index_at_the_end(path: Path) -> None:
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=6:rate=10:size=160x120", "-c:v", "mpeg4", str(path))
    keep_half(path, index_kept=False)


def index_at_the_front(path: Path) -> None:
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=6:rate=10:size=160x120", "-c:v", "mpeg4",
               "-movflags", "+faststart", str(path))  # fmt: skip
    keep_half(path, index_kept=True)


def keep_half(path: Path, *, index_kept: bool) -> None:
    data = path.read_bytes()
    half = data[: len(data) // 2]
    assert (b"moov" in half) is index_kept
    path.write_bytes(half)


def sound_only(path: Path) -> None:
    run_ffmpeg("-f", "lavfi", "-i", "sine=duration=3", "-c:a", "aac", "-f", "mp4", str(path))


def noise_behind_a_header(path: Path) -> None:
    path.write_bytes(b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom" + bytes(range(256)) * 64)


FAILING: dict[str, tuple[Callable[[Path], None], str]] = {
    "text": (text, "not_a_video"),
    "cut-moov-missing": (index_at_the_end, "truncated"),
    "cut-moov-says-more": (index_at_the_front, "truncated"),
    "sound-only": (sound_only, "no_video_stream"),
    "noise": (noise_behind_a_header, "truncated"),
}


@pytest.mark.parametrize("kind", FAILING)
def test_a_file_that_is_no_usable_video_fails_with_a_stable_code(
    service: Service, endpoint_id: str, tmp_path: Path, kind: str
) -> None:
    make, code = FAILING[kind]
    file = tmp_path / f"{kind}.mp4"
    make(file)

    video_id = service.upload(file, external_id=kind)
    video = service.wait_until_indexed(video_id)

    check_failed(service, endpoint_id, video, code)


def check_failed(service: Service, endpoint_id: str, video: dict[str, Any], code: str) -> None:
    """Assert that the video is refused for this reason, has no index, has no running job, and that its owner knows."""
    assert (video["status"], video["error"]["code"]) == ("failed", code)
    assert video["error"]["message"]
    assert (video["probe"], video["duration_ms"], video["indexed_until_ms"], video["ekg"]) == (None, None, 0, None)
    client = service.client()
    for part in PARTS_OF_AN_INDEX:
        assert list(client.pages(f"/videos/{video['id']}/{part}")) == [], part
    (job,) = client.pages(f"/index-jobs?video_id={video['id']}")
    assert (job["status"], job["stage"], job["attempt"]) == ("failed", "", 1)
    assert (job["error"]["code"], job["error"]["retryable"]) == (code, False)
    assert job["completed_at"] is not None
    assert deliveries(service, endpoint_id, video["id"]) == ["video.failed"]
    assert not [row for row in client.pages("/usage/events") if row["video_id"] == video["id"]]


def test_a_playlist_is_refused_and_nothing_that_it_names_is_read(
    service: Service, endpoint_id: str, tmp_path: Path
) -> None:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, format: str, *args: Any) -> None:
            return

    secret = write_steady(tmp_path / "secret.mp4", 6)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        outside = f"http://127.0.0.1:{server.server_address[1]}/part.ts"
        file = tmp_path / "list.mp4"
        entries = "".join(f"#EXTINF:6,\n{target}\n" for target in (secret, secret.as_uri(), outside))
        file.write_text(f"#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:6\n{entries}#EXT-X-ENDLIST\n")

        video = service.wait_until_indexed(service.upload(file, external_id="playlist"))

        check_failed(service, endpoint_id, video, "playlist_refused")
        assert asked == []
    finally:
        server.shutdown()
        server.server_close()


def test_a_failed_video_can_be_neither_asked_about_nor_waited_for(
    service: Service, http: httpx.Client, tmp_path: Path
) -> None:
    text(tmp_path / "again.mp4")
    video_id = service.upload(tmp_path / "again.mp4", external_id="asked")
    service.wait_until_indexed(video_id)

    asked = http.post("/questions", json={"question": "What happens?", "video_ids": [video_id]})

    assert problem(asked) == (409, "nothing_indexed")
    assert [q for q in service.client().pages("/questions") if video_id in str(q)] == []


# --- odd files that are videos nevertheless ---------------------------------------------------------------------------


def one_frame(path: Path) -> None:
    write_video(path, [0], [solid((180, 40, 40), 96, 64)])


def zero_rate(path: Path) -> None:
    """Make an AVI whose headers state no rate at all."""
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=4:rate=10:size=96x64", "-c:v", "mpeg4", str(path))
    data = bytearray(path.read_bytes())
    header = data.index(b"strh") + 8
    data[header + 20 : header + 28] = bytes(8)  # dwScale, dwRate
    data[32:36] = bytes(4)  # dwMicroSecPerFrame
    path.write_bytes(data)


def no_stated_rate(path: Path) -> None:
    """Make pictures at irregular times, like a slow camera."""
    times = [0, 700, 900, 2_500, 4_000]
    write_video(path, times, [grey(40 * n, 96, 64) for n in range(5)])


READY: dict[str, tuple[str, Callable[[Path], None]]] = {
    "one-frame": ("mp4", one_frame),
    "zero-fps-header": ("avi", zero_rate),
    "no-stated-rate": ("mkv", no_stated_rate),
}


@pytest.mark.parametrize("kind", READY)
def test_an_odd_but_legal_video_is_indexed_to_its_end(
    service: Service, endpoint_id: str, tmp_path: Path, kind: str
) -> None:
    extension, make = READY[kind]
    file = tmp_path / f"{kind}.{extension}"
    make(file)

    video = service.wait_until_indexed(service.upload(file, external_id=kind))

    assert (video["status"], video["error"]) == ("ready", None)
    assert video["indexed_until_ms"] == video["duration_ms"] > 0
    client = service.client()
    chunks = list(client.pages(f"/videos/{video['id']}/chunks"))
    assert len(chunks) == -(-video["duration_ms"] // 3_000)
    assert [chunk["gap"] for chunk in chunks] == [None] * len(chunks)
    assert video["ekg"]["frames"] >= 1
    assert (chunks[0]["start_ms"], chunks[-1]["end_ms"]) == (0, video["duration_ms"])
    if kind == "one-frame":
        assert video["duration_ms"] <= 40
        assert (video["ekg"]["frames"], video["ekg"]["events"]) == (1, 1)
    (job,) = client.pages(f"/index-jobs?video_id={video['id']}")
    assert (job["status"], job["error"]) == ("succeeded", None)
    assert deliveries(service, endpoint_id, video["id"]) == ["video.ready"]


# --- uploads that go wrong on the way ---------------------------------------------------------------------------------


def begin(http: httpx.Client, content: bytes, **fields: Any) -> dict[str, Any]:
    body = {"filename": "a.mp4", "size_bytes": len(content), "content_type": "video/mp4", **fields}
    response = http.post("/uploads", json=body)
    assert response.status_code == 201, response.text
    upload: dict[str, Any] = response.json()
    return upload


def put(http: httpx.Client, upload_id: str, content: bytes, *, announced: bytes | None = None) -> httpx.Response:
    """PUT part 1. announced: the bytes whose checksum is signed."""
    checksum = hashlib.sha256(content if announced is None else announced).hexdigest()
    signed = http.post(f"/uploads/{upload_id}/part-urls", json={"part_numbers": [1], "checksums": {"1": checksum}})
    assert signed.status_code == 200, signed.text
    part = signed.json()["data"][0]
    return httpx.put(part["url"], content=content, headers=part["headers"], timeout=60, trust_env=False)


def test_an_upload_of_zero_bytes_is_not_begun(http: httpx.Client) -> None:
    body = {"filename": "empty.mp4", "size_bytes": 0, "content_type": "video/mp4"}

    refused = http.post("/uploads", json=body)

    assert problem(refused) == (400, "invalid_request")
    assert [(error["pointer"], error["code"]) for error in refused.json()["errors"]] == [("/size_bytes", "min_value")]


def test_a_part_with_another_checksum_is_refused_and_the_upload_stays_usable(
    service: Service, http: httpx.Client, tmp_path: Path
) -> None:
    one_frame(tmp_path / "a.mp4")
    content = (tmp_path / "a.mp4").read_bytes()
    damaged = content[:-1] + bytes([content[-1] ^ 1])
    upload = begin(http, content, part_checksums=True)

    assert put(http, upload["id"], damaged, announced=content).status_code == 400

    state = http.get(f"/uploads/{upload['id']}").json()
    assert (state["status"], state["received_parts"], state["missing_parts"]) == ("open", [], [1])
    early = http.post(f"/uploads/{upload['id']}/complete", json={})
    assert early.status_code == 409
    assert problem(early) == (409, "parts_missing")
    sent = put(http, upload["id"], content)
    assert sent.status_code == 200, sent.text
    named = [{"part_number": 1, "etag": sent.headers["etag"], "sha256": hashlib.sha256(content).hexdigest()}]
    done = http.post(f"/uploads/{upload['id']}/complete", json={"parts": named})
    assert done.status_code == 202, done.text
    assert service.wait_until_indexed(done.json()["id"])["status"] == "ready"


def test_a_wrong_etag_is_refused_and_the_right_one_completes(http: httpx.Client) -> None:
    content = b"not a video, and completed all the same"
    upload = begin(http, content, part_checksums=True)
    sent = put(http, upload["id"], content)
    assert sent.status_code == 200, sent.text
    path, sha256 = f"/uploads/{upload['id']}/complete", hashlib.sha256(content).hexdigest()

    wrong = http.post(path, json={"parts": [{"part_number": 1, "etag": "0" * 32, "sha256": sha256}]})

    assert problem(wrong) == (409, "part_mismatch")
    assert wrong.json()["errors"][0]["pointer"] == "/parts/0/etag"
    assert http.get(f"/uploads/{upload['id']}").json()["status"] == "open"
    right = {"part_number": 1, "etag": sent.headers["etag"], "sha256": sha256}
    assert http.post(path, json={"parts": [right]}).status_code == 202


@pytest.mark.parametrize("key", ["vk_live_" + "0" * 48, "nonsense", ""])
def test_a_wrong_or_missing_api_key_is_refused_and_begins_nothing(service: Service, key: str) -> None:
    body = {"filename": "a.mp4", "size_bytes": 10, "content_type": "video/mp4"}
    headers = {"Authorization": f"Bearer {key}"} if key else {}

    refused = httpx.post(f"{service.url}/v1/uploads", json=body, headers=headers, timeout=60, trust_env=False)

    assert problem(refused) == (401, "invalid_api_key" if key else "not_authenticated")
    assert refused.headers["www-authenticate"].startswith("Bearer")
