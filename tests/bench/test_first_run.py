"""The times of a newcomer's run are read from the demo's lines."""

from __future__ import annotations

import pytest

from bench.first_run import FirstRun, Line, RunFailed, measured

LINES = (
    Line(1.0, "bootstrap: 1/4 creating .venv"),
    Line(30.0, "bootstrap: environment is ready"),
    Line(31.0, "starting the local stack"),
    Line(70.0, "uploading vtest.avi (8.1 MB)"),
    Line(95.0, "Q1: What do the people in this video do?"),
    Line(120.5, "A1: They walk."),
    Line(150.0, "A2: pedestrians"),
    Line(160.0, "Indexing ran at 1.25x real time; this run took 160 s, including all set-up."),
)


def test_each_time_is_that_of_its_line() -> None:
    assert measured(LINES, 161.0, 200.0) == FirstRun(
        setup_s=30.0,
        ready_s=70.0,
        answer_s=120.5,
        end_s=161.0,
        silence_s=39.0,
        silent_after="starting the local stack",
        realtime_factor=1.25,
        cpu_s=200.0,
    )


@pytest.mark.parametrize("missing", ["bootstrap: environment is ready", "A1: ", "Indexing ran at", "uploading"])
def test_a_run_without_one_of_its_lines_is_no_measurement(missing: str) -> None:
    with pytest.raises(RunFailed):
        measured([line for line in LINES if not line.text.startswith(missing)], 161.0, 200.0)
