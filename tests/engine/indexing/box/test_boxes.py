"""A box holds in whoever has taken it over, and the worker believes nothing that it says."""

from __future__ import annotations

import json
import os
import re
import select
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.box.boxes import ZYGOTE, Box, BoxEnded, BoxLost, BoxSilent
from gpu_workers.engine.indexing.box.channel import MESSAGE_BYTES
from gpu_workers.engine.indexing.box.lockdown import BoxLimits
from gpu_workers.engine.indexing.box.supply import Supply
from gpu_workers.engine.indexing.container import DecodingFailed, ProbeError
from gpu_workers.engine.indexing.probe import probe
from gpu_workers.engine.indexing.sampling import sample_frames
from tests.engine.indexing.media import write_steady

INTRUDER = "tests.engine.indexing.box.intruder"
SECRET = "the-worker-s-own-secret"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return write_steady(tmp_path / "v.mp4", 2)


def test_a_compromised_decoder_finds_nothing(recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AVA_SECRET_KEY", SECRET)
    secret_file = tmp_path / "secret"
    secret_file.write_text(SECRET)
    with socket.create_server(("127.0.0.1", 0)) as server:
        arguments = {"secret_file": str(secret_file), "worker": os.getpid(), "port": server.getsockname()[1]}
        gave: dict[str, str] = {}
        with Box(f"{INTRUDER}:look_around", arguments, Supply(str(recording)), memory_bytes=4096) as box:
            while "done" not in (message := box.receive()):
                gave[message["attempt"]] = message["gave"]
        server.settimeout(0.0)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert gave.pop("environment") == "['AVA_HWACCEL', 'LANG', 'OPENBLAS_NUM_THREADS', 'PATH', 'PYTHONPATH']"
    # Standard input, output and error, which are /dev/null, the recording, the shared memory, the worker's socket.
    assert len(gave.pop("descriptors").split(",")) == 6
    assert {name for name, what in gave.items() if not what.startswith("refused")} == set()
    assert len(gave) == 28
    assert SECRET not in str(gave)


def test_a_compromised_decoder_beside_a_device_reaches_nothing_of_the_worker(recording: Path, tmp_path: Path) -> None:
    """The box of a device is wider: it may learn that a file exists, and make memory that runs."""
    secret_file = tmp_path / "secret"
    secret_file.write_text(SECRET)
    gave: dict[str, str] = {}
    with socket.create_server(("127.0.0.1", 0)) as server:
        arguments = {"secret_file": str(secret_file), "worker": os.getpid(), "port": server.getsockname()[1]}
        with Box(f"{INTRUDER}:look_around", arguments, Supply(str(recording)), device=True) as box:
            while "done" not in (message := box.receive()):
                gave[message["attempt"]] = message["gave"]
        server.settimeout(0.0)
        with pytest.raises(BlockingIOError):
            server.accept()
    given = {name for name, what in gave.items() if not what.startswith("refused")}
    assert given - {"existence of a file", "memory that runs"} == {
        "environment", "descriptors", "memory file", "own limits",
    }  # fmt: skip
    assert SECRET not in str(gave)


def test_beside_a_device_a_socket_is_a_unix_socket_that_listens() -> None:
    with Box(f"{INTRUDER}:open_sockets", {}, device=True) as box:
        gave = box.receive()["gave"]
    assert gave == {"AF_UNIX": "listens", "AF_INET": "refused", "AF_INET6": "refused", "AF_NETLINK": "refused"}


def test_every_layer_of_this_host_holds(recording: Path) -> None:
    with Box(f"{INTRUDER}:sleep", {}) as box:
        assert box.layers[-1] == "syscalls"
        if os.geteuid() == 0:
            assert box.layers == ("user", "namespaces", "root", "landlock", "syscalls")


def test_the_recording_can_only_be_read(recording: Path) -> None:
    before = recording.read_bytes()
    with Box(f"{INTRUDER}:write_over_the_recording", {}, Supply(str(recording))) as box:
        assert box.receive()["gave"] == "refused: 9"
    assert recording.read_bytes() == before


def test_limits_end_the_box_and_not_the_worker() -> None:
    small = BoxLimits(cpu_s=1, memory_bytes=2**30)
    with Box(f"{INTRUDER}:eat_memory", {"bytes": 2**30}, limits=small) as box, pytest.raises(BoxEnded):
        box.receive()
    with Box(f"{INTRUDER}:burn_time", {}, limits=small) as box, pytest.raises(BoxEnded):
        box.receive()
    with Box(f"{INTRUDER}:crash", {}) as box, pytest.raises(BoxEnded):
        box.receive()
    with Box(f"{INTRUDER}:sleep", {}, wall_s=0.5) as box, pytest.raises(BoxSilent):
        box.receive()


def test_a_box_dies_before_the_worker_when_memory_runs_out() -> None:
    with Box(f"{INTRUDER}:sleep", {}) as box:
        shown = Path(f"/proc/self/fdinfo/{box._process}").read_text()
        (process,) = re.findall(r"^Pid:\s+(\d+)$", shown, re.MULTILINE)
        assert Path(f"/proc/{process}/oom_score_adj").read_text().strip() == "1000"
    assert Path("/proc/self/oom_score_adj").read_text().strip() != "1000"


def test_a_closed_box_is_gone() -> None:
    box = Box(f"{INTRUDER}:burn_time", {})
    process = os.dup(box._process)
    box.close()
    # Not select(), which takes no descriptor above 1,023.
    ended = select.poll()
    ended.register(process, select.POLLIN)
    ((_, events),) = ended.poll(30_000)
    assert events & select.POLLIN, "a process descriptor is readable when it has ended"
    os.close(process)


@pytest.mark.parametrize(
    ("words", "times"),
    [(" ", 1), ("[]", 1), ("7", 1), ("{", 1), ("\x00", 1), ('{"a":1', 1), ("[", MESSAGE_BYTES)],
)
def test_an_answer_that_is_no_object_is_an_end(words: str, times: int) -> None:
    with Box(f"{INTRUDER}:talk_nonsense", {"words": words, "times": times}) as box, pytest.raises(BoxEnded):
        box.receive()


@pytest.mark.parametrize("message", [
    {"ms": 0, "size": [9999, 9999], "skipped": 0},
    {"ms": 0, "size": [64, -1], "skipped": 0},
    {"ms": 0, "size": [64, "48"], "skipped": 0},
    {"ms": -5, "size": [64, 48], "skipped": 0},
    {"ms": 10**12, "size": [64, 48], "skipped": 0},
    {"ms": 0, "size": [64, 48], "skipped": 0.5},
    {"ms": 0, "size": None, "skipped": 0},
    {"ms": 0, "size": [64, 48], "skipped": 0},
])  # fmt: skip
def test_a_lie_about_pictures_is_found(recording: Path, monkeypatch: pytest.MonkeyPatch, message: object) -> None:
    """The last message is no lie, but comes more often than pictures were asked for."""
    original = Box.__init__

    def taken_over(self: Box, job: str, arguments: dict[str, Any], supply: Supply, **box: Any) -> None:
        original(self, f"{INTRUDER}:lie_about_pictures", {"message": message, "times": 40}, supply, **box)

    monkeypatch.setattr(Box, "__init__", taken_over)
    with sample_frames(str(recording), Span(0, 2_000), fps=2, max_side=64) as frames, pytest.raises(DecodingFailed):
        list(frames)


TRACK = {"number": 1, "language": "", "title": "", "codec": "aac", "channels": 2, "is_default": True}
PICTURES = {"pixel_format": "yuv420p", "bit_depth": 8, "keyframe_ms": 2000, "is_interlaced": False, "transfer": ""}
LIES = [
    {"pictures": {}}, {"pictures": PICTURES | {"pixel_format": "a/b"}}, {"pictures": PICTURES | {"bit_depth": 2**40}},
    {"pictures": PICTURES | {"keyframe_ms": -1}}, {"pictures": PICTURES | {"transfer": "x"}},
    {"pictures": PICTURES | {"is_interlaced": 1}}, {"pictures": PICTURES | {"more": 1}},
    {"fps": "1/0"}, {"fps": "quick"}, {"fps": "-3"}, {"fps": "9" * 40}, {"duration_ms": -1}, {"duration_ms": 2**70},
    {"duration_ms": True}, {"bitrate": 2**70}, {"width": -64}, {"rotation": 2**40}, {"source_start_ms": -(2**70)},
    {"fps": "1e3000000"}, {"fps": "1e9"}, {"fps": "0"}, {"fps": ""}, {"fps": "1_0"}, {"fps": "25/1\n"}, {"fps": "٢٥"},
    {"container": "concat"}, {"container": "mov" * 5_000}, {"codec": ""}, {"codec": "h" * 33}, {"codec": "h264\n"},
    {"audio_tracks": [{}]}, {"audio_tracks": [1]}, {"audio_tracks": [TRACK | {"number": 2}]},
    {"audio_tracks": [TRACK | {"number": True}]}, {"audio_tracks": [TRACK | {"codec": "a/b"}]},
    {"audio_tracks": [TRACK | {"title": "t" * 101}]}, {"audio_tracks": [TRACK | {"language": 1}]},
    {"audio_tracks": [TRACK | {"channels": -1}]}, {"audio_tracks": [TRACK | {"more": 1}]},
    {"audio_tracks": [TRACK | {"number": n} for n in range(1, 18)]}, {"degraded": ["fine"]}, {"degraded": [[]]},
    {"stretches": 0}, {"stretches": 2**40}, {"stretches": None},
    {"stretches": 2, "rows": [[0, 400, 0, 400, 0, 9], [500, 1000, 0, 1000, 9, -1]]}, {"rows": [[9, 1, 0, 1, 0, -1]]},
    {"rows": [[0, 2**62, 0, 1, 0, -1]]}, {"rows": [[0, 2000, 0, 2000, 0, -1]]},
]  # fmt: skip


@pytest.mark.parametrize("lie", [{}, *LIES])
def test_a_lie_about_a_file_is_found(recording: Path, monkeypatch: pytest.MonkeyPatch, lie: dict[str, Any]) -> None:
    told = {
        "container": "mov", "codec": "h264", "duration_ms": 1000, "width": 64, "height": 48, "fps": "25/1",
        "rotation": 0, "audio_tracks": [TRACK], "has_video": True, "source_start_ms": 0, "bitrate": None,
        "degraded": [], "pictures": PICTURES,
    }  # fmt: skip
    original = Box.__init__

    def taken_over(self: Box, job: str, arguments: dict[str, Any], supply: Supply, **box: Any) -> None:
        message = {"result": told | {k: v for k, v in lie.items() if k in told}, "stretches": lie.get("stretches", 1)}
        arguments = {"words": json.dumps(message), "rows": lie.get("rows", [[0, 1000, 0, 1000, 0, -1]])}
        original(self, f"{INTRUDER}:talk_nonsense", arguments, supply, **box)

    monkeypatch.setattr(Box, "__init__", taken_over)
    if not lie:
        assert probe(str(recording)).duration_ms == 1000
        return
    with pytest.raises(ProbeError) as refused:
        probe(str(recording))
    assert refused.value.code == "not_a_video"


def test_a_worker_starts_a_new_zygote_when_the_old_one_dies() -> None:
    with Box(f"{INTRUDER}:sleep", {}) as box:
        assert ZYGOTE._process is not None
        ZYGOTE._process.kill()
        with pytest.raises(BoxLost):
            box.receive()
    with Box(f"{INTRUDER}:sleep", {}) as box:
        assert "syscalls" in box.layers


@pytest.mark.skipif(os.geteuid() != 0, reason="builds a weaker host with namespaces of its own")
def test_the_weakest_host_still_gives_an_intruder_nothing(tmp_path: Path) -> None:
    """A host like a container: no namespaces can be made, the user cannot be changed, and no root can be set."""
    (tmp_path / "secret").write_text(SECRET)
    weaken = 'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-sys_chroot "$@"'
    script = [sys.executable, "-m", "tests.engine.indexing.box.break_out", str(tmp_path / "secret")]
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", weaken, "sh", *script],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    said = json.loads(done.stdout)
    assert said["layers"] == ["landlock", "syscalls"]
    assert set(said["succeeded"]) == {"environment", "descriptors"}
    assert SECRET not in done.stdout


def test_without_landlock_no_box_has_a_device_and_the_cpu_decodes(recording: Path) -> None:
    """The box of a device may open files, and Landlock alone bounds which."""
    script = [sys.executable, "-m", "tests.engine.indexing.box.without_landlock", str(recording)]
    done = subprocess.run(script, capture_output=True, text=True, check=True, timeout=120)
    said = json.loads(done.stdout)
    assert "Landlock" in said["device"]
    assert "landlock" not in said["cpu"]
    assert said["cpu"][-1] == "syscalls"
    assert said["times"] == [0, 1000]
    assert "hardware decoder cannot be used" in done.stderr
