"""`ava record` at a real RTSP server whose pictures show the wall clock.

Needs GStreamer's RTSP server: apt-get install gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-good
gstreamer1.0-plugins-ugly python3-gi.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import av
import pytest
from ava_cloud.errors import AvaError
from ava_cloud.recorder.capture import CameraGone, captured, cut_file
from ava_cloud.recorder.pieces import Piece, Recording, Spool

from backend.library.models import InputSegment, Video
from infra.local import ports
from infra.local.ffmpeg import ffmpeg
from infra.local.state import State
from tests.api.servers import PROJECT, ServerProcess
from tests.clients.test_python_client import url
from tests.conftest import Cast
from tests.tasks.world import FORTY_SECONDS, recording

PROGRAM = Path(__file__).with_name("camera.py")
PYTHON = "/usr/bin/python3"
_IMPORTS = "import gi; gi.require_version('GstRtspServer', '1.0'); from gi.repository import GstRtspServer"
HAS_GSTREAMER = (
    Path(PYTHON).exists() and subprocess.run([PYTHON, "-c", _IMPORTS], capture_output=True, check=False).returncode == 0
)
needs_camera = pytest.mark.skipif(not HAS_GSTREAMER, reason="GStreamer's RTSP server is not installed")


class Camera:
    """A camera that can be unplugged. The address holds a password, as those of cameras do."""

    def __init__(self, folder: Path, real_fps: float = 10, declared_fps: int = 10) -> None:
        self.port = ports.claim(State(folder), "camera")
        self.address = f"rtsp://viewer:secret@127.0.0.1:{self.port}/gate"
        self._arguments = [PYTHON, str(PROGRAM), str(self.port), str(real_fps), str(declared_fps)]
        self.plug()

    def plug(self) -> None:
        self._process = subprocess.Popen(self._arguments, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def unplug(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture
def camera(tmp_path: Path) -> Iterator[Camera]:
    camera = Camera(tmp_path / "camera")
    yield camera
    camera.unplug()


def shown_ms(path: Path) -> list[int]:
    """Return the wall clock that each picture of a file shows, up to one that was cut with the connection."""
    times = []
    with av.open(str(path)) as file, contextlib.suppress(av.error.InvalidDataError):
        for frame in file.decode(video=0):
            grey = frame.to_ndarray(format="gray")
            fields = grey[20::40, 20::40].reshape(-1) > 128
            times.append(sum(1 << bit for bit, white in enumerate(fields) if white))
    return times


@needs_camera
@pytest.mark.long
@pytest.mark.parametrize(("real_fps", "declared_fps"), [(10, 10), (10, 12)])
def test_pieces_know_when_they_were_recorded(tmp_path: Path, real_fps: float, declared_fps: int) -> None:
    """Also of a camera that declares a fifth more pictures than it sends."""
    camera, spool = Camera(tmp_path / "camera", real_fps, declared_fps), Spool(tmp_path / "spool", 100)
    pieces: list[Piece] = []
    try:
        for piece, _ in captured(camera.address, spool, seconds=2.0):
            pieces.append(piece)
            if len(pieces) == 4:
                break
    finally:
        camera.unplug()

    for piece in pieces:
        times = shown_ms(spool.path(piece.n))
        assert abs(times[0] - piece.recorded_ms) < 500
        assert abs((times[-1] - times[0]) - piece.duration_ms) < 500
    for one, other in pairwise(pieces):
        assert abs(other.recorded_ms - one.recorded_ms - one.duration_ms) < 250, "no phantom gap"


@needs_camera
@pytest.mark.long
def test_an_outage_is_a_gap_and_nothing_else_is_lost(camera: Camera, tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", 100)
    recorded = captured(camera.address, spool, seconds=2.0)
    next(recorded)
    camera.unplug()
    with pytest.raises(CameraGone) as gone:
        list(recorded)
    time.sleep(2)
    camera.plug()
    last = spool.waiting()[-1]
    second, _ = next(captured(camera.address, spool, seconds=1.0))

    assert "secret" not in str(gone.value)
    gap_ms = second.recorded_ms - last.recorded_ms - last.duration_ms
    true_gap_ms = shown_ms(spool.path(second.n))[0] - shown_ms(spool.path(last.n))[-1]
    assert true_gap_ms > 1_500
    assert abs(gap_ms - true_gap_ms) < 2_000


def recorder(
    acme: Cast, server: ServerProcess, source: str, folder: Path, *more: str, seconds: int = 1
) -> subprocess.Popen[str]:
    environment = os.environ | {
        "PYTHONPATH": str(PROJECT / "frontend_api_schema" / "python" / "src"),
        "AVA_API_KEY": acme.key,
        "AVA_BASE_URL": url(server),
        "AVA_CAMERA": source,
    }
    command = [sys.executable, "-m", "ava_cloud", "record", "-", "--name", "Gate", "--seconds", str(seconds), *more]
    return subprocess.Popen([*command, "--spool", str(folder)], env=environment, stderr=subprocess.PIPE, text=True)


def appended(acme: Cast) -> list[InputSegment]:
    with acme.scope():
        return list(InputSegment.objects.order_by("n"))


def wait_for(acme: Cast, segments: int, process: subprocess.Popen[str]) -> None:
    ends = time.monotonic() + 90
    while len(appended(acme)) < segments:
        if time.monotonic() > ends or process.poll() is not None:
            process.kill()
            raise AssertionError(process.communicate()[1])
        time.sleep(0.2)


@needs_camera
@pytest.mark.long
def test_a_recorder_that_is_killed_goes_on_and_sends_nothing_twice(
    acme: Cast, server: ServerProcess, camera: Camera, tmp_path: Path
) -> None:
    folder = tmp_path / "spool"
    killed = recorder(acme, server, camera.address, folder)
    wait_for(acme, 3, killed)
    assert "secret" not in Path(f"/proc/{killed.pid}/cmdline").read_text()
    killed.kill()
    killed.communicate()
    before = len(appended(acme))
    again = recorder(acme, server, camera.address, folder)
    wait_for(acme, before + 3, again)
    second = recorder(acme, server, camera.address, folder)
    assert second.wait(60) == 1, "two recorders never record into one spool"
    again.send_signal(signal.SIGINT)
    _, said = again.communicate(timeout=60)

    assert again.returncode == 0, said
    assert "secret" not in said
    segments = appended(acme)
    times = [segment.recorded_at for segment in segments]
    assert times == sorted(set(times)), "each piece once, in order"
    with acme.scope():
        (video,) = Video.objects.all()
        assert video.title.startswith("Gate 20")
        assert video.external_id == video.title
    assert not list(folder.rglob("*.mp4"))


def test_a_file_is_cut_once_and_dated_by_its_last_change(tmp_path: Path) -> None:
    file, spool = tmp_path / "gate-1.mp4", Spool(tmp_path / "spool", 100)
    file.write_bytes(recording(FORTY_SECONDS))
    os.utime(file, (1_000_000_040, 1_000_000_040))
    cutting = cut_file(file, spool, 10.0, after_s=-math.inf)
    next(cutting)
    next(cutting)
    cutting.close()  # as at the end of the process
    assert spool.read_until() == {str(file): 20.0}
    rest = [piece for piece, _ in cut_file(file, spool, 10.0, after_s=spool.read_until()[str(file)])]

    assert [piece.recorded_ms - 1_000_000_000_000 for piece in spool.waiting()] == [0, 10_000, 20_000, 30_000]
    assert [piece.duration_ms for piece in spool.waiting()] == [10_000] * 4
    assert rest == spool.waiting()[2:3], "the last piece ends with the file"
    assert spool.read_until() == {str(file): math.inf}
    for piece in spool.waiting():
        spool.remove(piece)
    assert Spool(tmp_path / "spool", 100).read_until() == {str(file): math.inf}


def test_a_complete_playlist_is_recorded_to_its_end(tmp_path: Path) -> None:
    made = "-f lavfi -i testsrc=d=40:r=10:s=160x120 -f lavfi -i sine=d=40 -preset ultrafast -pix_fmt yuv420p -g 10"
    playlist = "-c:v libx264 -c:a aac -f hls -hls_time 5 -hls_list_size 0 gate.m3u8"
    subprocess.run([str(ffmpeg()), "-v", "error", *made.split(), *playlist.split()], cwd=tmp_path, check=True)
    served = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=tmp_path))
    threading.Thread(target=served.serve_forever, daemon=True).start()
    spool = Spool(tmp_path / "spool", 100)

    list(captured(f"http://127.0.0.1:{served.server_port}/gate.m3u8", spool, seconds=10.0))

    served.shutdown()
    served.server_close()
    assert [piece.duration_ms for piece in spool.waiting()] == [10_000] * 4
    for one, other in pairwise(spool.waiting()):
        assert other.recorded_ms == one.recorded_ms + one.duration_ms
    with pytest.raises(CameraGone):
        list(captured(f"http://127.0.0.1:{served.server_port}/gate.m3u8", spool, seconds=10.0))


@pytest.mark.long
def test_midnight_begins_a_new_video_within_one_piece(acme: Cast, server: ServerProcess, tmp_path: Path) -> None:
    zone = ZoneInfo("Asia/Tokyo")
    midnight = datetime(2026, 3, 2, tzinfo=zone)
    file = tmp_path / "gate-1.mp4"
    file.write_bytes(recording(FORTY_SECONDS))
    ended = (midnight + timedelta(seconds=15)).timestamp()
    os.utime(file, (ended, ended))

    process = recorder(
        acme, server, str(tmp_path / "gate-*.mp4"), tmp_path / "spool", "--time-zone", zone.key, seconds=4
    )
    wait_for(acme, 10, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said

    with acme.scope():
        days = {video.id: video.title for video in Video.objects.all()}
    by_day: dict[str, list[datetime]] = {"Gate 2026-03-01": [], "Gate 2026-03-02": []}
    for segment in appended(acme):
        assert segment.recorded_at is not None
        by_day[days[segment.video_id]].append(segment.recorded_at)
    before, after = sorted(by_day["Gate 2026-03-01"]), sorted(by_day["Gate 2026-03-02"])
    assert before[0] == midnight - timedelta(seconds=25)
    assert midnight - timedelta(seconds=4) <= before[-1] < midnight <= after[0] < midnight + timedelta(seconds=4)
    assert len(before) + len(after) == 10
    assert file.exists()


def test_a_full_spool_drops_the_oldest_and_says_so(tmp_path: Path) -> None:
    spool = Spool(tmp_path, most=2)
    lost = []
    for _ in range(4):
        n = spool.next_n()
        spool.path(n).write_bytes(b"x")
        lost += spool.add(Piece(n, 1000 * n, 1000))

    assert [piece.n for piece in lost] == [0, 1]
    assert [piece.n for piece in spool.waiting()] == [2, 3]
    assert sorted(path.name for path in tmp_path.glob("*.mp4")) == ["00000002.mp4", "00000003.mp4"]


def test_a_spool_has_one_owner_and_forgets_what_was_not_finished(tmp_path: Path) -> None:
    spool = Spool(tmp_path, most=2)
    spool.path(spool.next_n()).write_bytes(b"half")
    spool.recording = Recording("vid_1", "2026-11-29")

    with spool.owned():
        assert not list(tmp_path.glob("*.mp4"))
        with pytest.raises(AvaError, match="another process"), Spool(tmp_path, most=2).owned():
            pass

    assert Spool(tmp_path, most=2).recording == Recording("vid_1", "2026-11-29")
    assert spool.next_n() == 1, "a number is never used again"
