"""A box that ends at its own limits says something about its file; a box that its host kills does not."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.audio import read_audio
from gpu_workers.engine.indexing.box.boxes import ZYGOTE, Box, BoxEnded, BoxLost
from gpu_workers.engine.indexing.box.lockdown import BoxLimits
from gpu_workers.engine.indexing.container import DecoderUnavailable, DecodingFailed, ProbeError
from gpu_workers.engine.indexing.probe import probe
from gpu_workers.engine.indexing.sampling import sample_frames
from tests.engine.indexing.media import write_steady

INTRUDER = "tests.engine.indexing.box.intruder"
GROUPS = Path("/sys/fs/cgroup")
PATIENCE_S = 30.0


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return write_steady(tmp_path / "v.mp4", 2)


def processes_of(box: Box) -> list[int]:
    """Return the box's process and, where it has namespaces, the process inside."""
    shown = Path(f"/proc/self/fdinfo/{box._process}").read_text()
    (first,) = re.findall(r"^Pid:\s+(\d+)$", shown, re.MULTILINE)
    inside = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    return [int(first), *map(int, inside)]


@pytest.mark.parametrize("which", [0, -1], ids=["outer", "inner"])
def test_a_box_that_is_killed_from_outside_is_lost(which: int) -> None:
    with Box(f"{INTRUDER}:sleep", {}) as box:
        os.kill(processes_of(box)[which], signal.SIGKILL)
        with pytest.raises(BoxLost, match="killed by its host"):
            box.receive()


@pytest.mark.parametrize(
    ("job", "arguments"),
    [
        ("eat_memory", {"bytes": 2**30}),
        ("map_memory", {"bytes": 2**30}),
        ("burn_time", {}),
        ("ignore_the_end_and_burn_time", {}),
        ("crash", {}),
        ("abort", {}),
        ("leave", {"code": 0}),
        ("leave", {"code": 137}),
        ("talk_nonsense", {"words": "["}),
    ],
    ids=str,
)
def test_a_box_that_ends_by_itself_is_an_end(job: str, arguments: dict[str, Any]) -> None:
    small = BoxLimits(cpu_s=1, memory_bytes=2**30)
    with Box(f"{INTRUDER}:{job}", arguments, limits=small) as box, pytest.raises(BoxEnded):
        box.receive()


def test_other_boxes_outlive_a_box_that_cannot_be_started(group: Callable[[str], Path]) -> None:
    with Box(f"{INTRUDER}:sleep", {}) as other:
        processes = group("pids")
        (processes / "pids.max").write_text("1")
        assert ZYGOTE._process is not None
        (processes / "cgroup.procs").write_text(str(ZYGOTE._process.pid))
        with pytest.raises(BoxLost, match="no process"):
            Box(f"{INTRUDER}:sleep", {})
        assert len(processes_of(other)) in (1, 2)
        other.release()
        (processes / "pids.max").write_text("max")
        with Box(f"{INTRUDER}:sleep", {}) as box:
            assert "syscalls" in box.layers


def test_a_box_is_lost_when_the_memory_of_its_group_ends_before_its_own(group: Callable[[str], Path]) -> None:
    """The kernel kills it as it kills one on a host without memory."""
    with Box(f"{INTRUDER}:eat_memory_when_told", {"bytes": 2**30}) as box:
        memory = group("memory")
        (memory / "memory.limit_in_bytes").write_text(str(96 * 2**20))
        (memory / "cgroup.procs").write_text(str(processes_of(box)[-1]))
        box.release()
        with pytest.raises(BoxLost, match="killed by its host"):
            box.receive()


@pytest.fixture
def group() -> Iterator[Callable[[str], Path]]:
    """Return a maker of control groups; what is in them moves to the root group at the end."""
    made: list[Path] = []

    def make(controller: str) -> Path:
        folder = GROUPS / controller / f"ava-test-{uuid4().hex[:12]}"
        try:
            folder.mkdir()
        except OSError:
            pytest.skip(f"this host lets no control group of {controller} be made")
        made.append(folder)
        return folder

    yield make
    for folder in made:
        leave(folder)


def leave(folder: Path) -> None:
    """Move what is in a control group to its parent, and remove the group; what ends stays in it until then."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        for process in (folder / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):  # it has ended
                (folder.parent / "cgroup.procs").write_text(process)
        try:
            folder.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the host kill each box as soon as it has begun."""
    begin = Box.__init__

    def begun(self: Box, job: str, *arguments: Any, **options: Any) -> None:
        begin(self, f"{INTRUDER}:sleep", *arguments, **options)
        os.kill(processes_of(self)[-1], signal.SIGKILL)

    monkeypatch.setattr(Box, "__init__", begun)


def test_a_killed_decoder_refuses_no_recording(recording: Path, killed: None) -> None:
    with pytest.raises(ProbeError) as refused:
        probe(str(recording))
    assert (refused.value.code, refused.value.retryable) == ("decoder_unavailable", True)
    with (
        sample_frames(str(recording), Span(0, 2_000), fps=2, max_side=64) as frames,
        pytest.raises(DecoderUnavailable) as unread,
    ):
        list(frames)
    assert (unread.value.code, unread.value.retryable) == ("decoder_unavailable", True)
    with pytest.raises(DecoderUnavailable):
        read_audio(str(recording), Span(0, 2_000))


@pytest.mark.parametrize("intruder", ["eat_memory", "burn_time"])
def test_a_decoder_at_its_own_limits_refuses_the_recording(
    recording: Path, monkeypatch: pytest.MonkeyPatch, intruder: str
) -> None:
    begin = Box.__init__

    def begun(self: Box, job: str, arguments: Any, *rest: Any, **options: Any) -> None:
        small = BoxLimits(cpu_s=1, memory_bytes=2**30)
        begin(self, f"{INTRUDER}:{intruder}", {"bytes": 2**30}, *rest, **{**options, "limits": small})

    monkeypatch.setattr(Box, "__init__", begun)
    with pytest.raises(ProbeError) as refused:
        probe(str(recording))
    assert (refused.value.code, refused.value.retryable) == ("not_a_video", False)
    with (
        sample_frames(str(recording), Span(0, 2_000), fps=2, max_side=64) as frames,
        pytest.raises(DecodingFailed) as unread,
    ):
        list(frames)
    assert (unread.value.code, unread.value.retryable) == ("source_undecodable", False)
