"""A worker asks its model servers at its start, and names a fault until it is mended."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from workers import liveness, loading
from workers.liveness import READY, Beat, ChildState


@dataclass(frozen=True)
class Fault:
    role: str
    error: str


FAULTS = [[Fault("reasoner", "the server lists qwen3, not qwen2")], []]


def load() -> None:
    return None


def check() -> list[Fault]:
    return FAULTS.pop(0)


def state(folder: Path) -> ChildState:
    (state,) = liveness.states_of(folder, [os.getpid()], forked_at=0.0)
    return state


def test_a_fault_of_a_model_server_is_shown_until_it_is_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(loading.LOADERS, "gpu.query", (__name__, "load"))
    monkeypatch.setitem(loading.CHECKS, "gpu.query", (__name__, "check"))
    asked, go_on = threading.Event(), threading.Event()

    def pause(seconds: float) -> None:
        if threading.current_thread().name != "model-servers":
            threading.Event().wait()
        asked.set()
        assert go_on.wait(60)

    loading.prepare(["gpu.query"], Beat(tmp_path), pause=pause)
    assert asked.wait(60)
    assert (state(tmp_path).state, state(tmp_path).detail) == (READY, "reasoner: the server lists qwen3, not qwen2")
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "model-servers")
    go_on.set()
    thread.join(60)
    assert (state(tmp_path).state, state(tmp_path).detail) == (READY, "")


def test_a_worker_of_sweeps_tries_what_is_away_while_no_other_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried, go_on = threading.Event(), threading.Event()
    monkeypatch.setattr(loading, "IDLE_TRY", (__name__, "note_a_try"))
    monkeypatch.setattr(f"{__name__}.TRIED", tried)
    turns = iter([None, go_on.wait])

    def pause(seconds: float) -> None:
        # The second pause never ends: one try is enough.
        turn = next(turns)
        if turn is not None:
            turn()

    loading.prepare(["system.sweep"], Beat(tmp_path), pause=pause)
    assert tried.wait(60)


TRIED = threading.Event()


def note_a_try() -> None:
    TRIED.set()
