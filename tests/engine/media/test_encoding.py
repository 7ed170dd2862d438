"""ffmpeg runs in a box that has one folder, and ends when its work, its time or its owner's patience ends."""

from __future__ import annotations

import contextlib
import http.server
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import ffmpeg
import pytest

from gpu_workers.engine.indexing.box.boxes import Box, Program
from gpu_workers.engine.indexing.box.lockdown import BoxLimits
from gpu_workers.engine.media.encoding import EncodingFailed, EncodingLimits, encode, made, source, workspace


@pytest.fixture
def folder() -> Iterator[Path]:
    with workspace() as folder:
        yield folder


def pattern(seconds: int = 1) -> object:
    return ffmpeg.input(f"testsrc2=s=160x90:r=10:d={seconds}", format="lavfi")


def processes_in(folder: Path) -> list[str]:
    """The processes whose working directory is the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.readlink(process / "cwd") == str(folder):
                found.append(process.name)
    return found


def test_a_graph_writes_into_the_folder_and_gives_signs_of_life(folder: Path) -> None:
    beats: list[float] = []

    encode(
        ffmpeg.output(pattern(20), "out.mp4", vcodec="libx264"), folder, on_progress=lambda: beats.append(time.time())
    )

    assert made(folder, "out.mp4")[4:8] == b"ftyp"
    assert beats


def test_a_file_that_is_no_video_is_refused_with_ffmpegs_reason(folder: Path) -> None:
    (folder / "in.nut").write_bytes(b"nothing")

    with pytest.raises(EncodingFailed, match="Invalid data"):
        encode(ffmpeg.output(source("in.nut"), "out.mp4"), folder)


def test_what_ffmpeg_may_not_read_or_reach(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.wav"
    encode(ffmpeg.output(ffmpeg.input("sine=d=1", format="lavfi"), "secret.wav"), folder)
    secret.write_bytes(made(folder, "secret.wav"))
    asked: list[str] = []

    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)

    with http.server.HTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for address in (str(secret), f"http://127.0.0.1:{server.server_port}/x.wav"):
            with pytest.raises(EncodingFailed, match=r"Error opening input|Permission|not permitted"):
                encode(ffmpeg.output(ffmpeg.input(address), "out.wav"), folder)
        server.shutdown()

    assert asked == []
    with pytest.raises(EncodingFailed, match=r"Permission|Error opening output"):
        encode(ffmpeg.output(pattern(), str(tmp_path / "out.mp4")), folder)


def test_the_program_of_a_box_starts_no_other_and_reads_no_file(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("the secret")
    script = (
        f"read word < {tmp_path}/secret && echo $word; echo mine > own; exec /bin/cat {tmp_path}/secret /etc/passwd"
    )
    program = Program("/bin/sh", str(folder), ("sh", "-c", script))

    said = ""
    with Box("", {}, limits=BoxLimits(file_bytes=1024), wall_s=30, program=program) as box:
        while (words := box.output(1)) is not None:
            said += words
        assert box.exit_status() != 0

    assert "the secret" not in said
    assert "root:" not in said
    assert made(folder, "own") == b"mine\n"


def test_whoever_raises_in_between_ends_the_program(folder: Path) -> None:
    class Lost(Exception):
        pass

    running: list[str] = []

    def lose() -> None:
        running.extend(processes_in(folder))
        raise Lost

    endless = ffmpeg.output(ffmpeg.input("testsrc2=s=160x90:r=10", format="lavfi"), "out.mkv")
    with pytest.raises(Lost):
        encode(endless, folder, on_progress=lose)

    assert running
    deadline = time.monotonic() + 10
    while processes_in(folder):
        assert time.monotonic() < deadline


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="the kernel does not group by session")
def test_ffmpeg_yields_to_other_sessions_as_its_worker_does() -> None:
    command = ["nice", "-n", "15", sys.executable, "-m", "tests.engine.media.patient_worker"]

    said = subprocess.run(command, start_new_session=True, capture_output=True, text=True, check=True, timeout=60)

    own, session = map(int, said.stdout.split())
    assert own == session >= 15


def test_the_time_in_all_and_the_cpu_time_end_it(folder: Path) -> None:
    endless = ffmpeg.output(ffmpeg.input("testsrc2=s=640x360:r=30", format="lavfi"), "out.mkv", vcodec="libx264")
    with pytest.raises(EncodingFailed, match="too long"):
        encode(endless, folder, limits=EncodingLimits(wall_s=0.5))
    with pytest.raises(EncodingFailed, match="limits"):
        encode(endless, folder, limits=EncodingLimits(cpu_s=1))


def test_a_link_is_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (folder / "out.mp4").symlink_to(tmp_path / "secret")

    with pytest.raises(EncodingFailed, match=r"no out\.mp4"):
        made(folder, "out.mp4")
