"""Whoever waits reads what goes on, of the innermost step and only while it goes on."""

from __future__ import annotations

import queue

from infra.local.heartbeat import Heartbeat


def test_silence_is_broken_by_the_innermost_step() -> None:
    lines: queue.Queue[str] = queue.Queue()
    heartbeat = Heartbeat(lines.put, every_s=0.01)
    stage = "first"
    with heartbeat.during("the whole"):
        assert lines.get(timeout=60) == "  the whole: 0 s"
        with heartbeat.during(lambda: f"the part ({stage})"):
            while lines.get(timeout=60) != "  the part (first): 0 s":
                continue
            stage = "second"
            while lines.get(timeout=60) != "  the part (second): 0 s":
                continue
        while lines.get(timeout=60) != "  the whole: 0 s":
            continue


def test_nothing_is_said_of_a_step_that_failed() -> None:
    said: list[str] = []
    heartbeat = Heartbeat(said.append, every_s=60)
    try:
        with heartbeat.during("a step"):
            raise OSError
    except OSError:
        heartbeat.say("it failed")
    assert said == ["it failed"]
