"""What a newcomer waits for: `make demo` of the committed tree in an empty clone with empty caches.

    python -m bench.first_run --load busy

Prints one JSON line per figure, and the demo's own lines to stderr. busy: next to a busy loop on one core.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from bench.figures import Figure, Figures, at_least, at_most, print_lines, show_progress

PROJECT = Path(__file__).resolve().parents[1]
ANSWER_S, END_S, SILENCE_S = 300.0, 480.0, 10.0
_CACHES = ("XDG_CACHE_HOME", "UV_CACHE_DIR", "PIP_CACHE_DIR", "HF_HOME", "AVA_CACHE_DIR")
_NOT_INHERITED = ("DATABASE_", "REDIS_", "S3_", "REASONER_", "DESCRIBER_", "AVA_", "MAKE", "MFLAGS")
_OF_THE_DEMO = ("VIDEO", "QUESTION", "CHOICES", "FRESH", "COMPARE", "LOAD", "VIRTUAL_ENV")
_SETUP, _READY, _ANSWER = "bootstrap: environment is ready", "uploading ", "A1: "
_FACTOR = re.compile(r"^Indexing ran at ([0-9.]+)x real time")


class RunFailed(Exception):
    """The demo failed, or did not print a line that shows how far it is."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the demo. at_s: seconds since its start."""

    at_s: float
    text: str


@dataclass(frozen=True, slots=True)
class FirstRun:
    """Seconds since the start until something was there. cpu_s: user and system time of all processes."""

    setup_s: float
    ready_s: float
    answer_s: float
    end_s: float
    silence_s: float
    silent_after: str
    realtime_factor: float
    cpu_s: float


def measured(lines: Sequence[Line], end_s: float, cpu_s: float) -> FirstRun:
    """Return the times of a run by its lines. Raises RunFailed."""
    silence_s, silent_after = max(
        (after.at_s - before.at_s, before.text) for before, after in pairwise([Line(0.0, "the start"), *lines])
    )
    factor = next((found[1] for line in lines if (found := _FACTOR.match(line.text))), None)
    if factor is None:
        raise RunFailed("the demo does not say how fast it indexed")
    return FirstRun(
        setup_s=_first(lines, _SETUP),
        ready_s=_first(lines, _READY),
        answer_s=_first(lines, _ANSWER),
        end_s=end_s,
        silence_s=silence_s,
        silent_after=silent_after,
        realtime_factor=float(factor),
        cpu_s=cpu_s,
    )


def _first(lines: Sequence[Line], start: str) -> float:
    at_s = next((line.at_s for line in lines if line.text.startswith(start)), None)
    if at_s is None:
        raise RunFailed(f"the demo printed no line that starts with {start!r}")
    return at_s


def figures(run: FirstRun, load: str) -> Figures:
    """Yield the figures of a run. load: quiet or busy."""
    reference = (
        f"{load}, {os.cpu_count()} cores, load of the machine {os.getloadavg()[1]:.1f}, {run.cpu_s:.0f} s of CPU"
    )
    yield Figure(f"first_run_{load}_setup_s", round(run.setup_s, 1), "none", True, reference)
    yield Figure(f"first_run_{load}_ready_s", round(run.ready_s, 1), "none", True, reference)
    yield at_most(f"first_run_{load}_answer_s", run.answer_s, ANSWER_S, reference)
    yield at_most(f"first_run_{load}_end_s", run.end_s, END_S, reference)
    yield at_most(f"first_run_{load}_silence_s", run.silence_s, SILENCE_S, f"after {run.silent_after!r}; {reference}")
    if load == "quiet":
        yield at_least("first_run_quiet_realtime_factor", run.realtime_factor, 1.0, reference)
    else:
        yield Figure(f"first_run_{load}_realtime_factor", run.realtime_factor, "none", True, reference)


def first_run(load: str) -> FirstRun:
    """Run the demo in a new clone, which is deleted afterwards. Raises RunFailed."""
    folder = Path(tempfile.mkdtemp(prefix="ava-first-run-"))
    # An unprivileged server process must be able to enter it.
    folder.chmod(0o755)
    clone = folder / "clone"
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_NOT_INHERITED) and name not in _OF_THE_DEMO
    }
    caches = {name: str(folder / "cache" / name.lower()) for name in _CACHES}
    try:
        subprocess.run(["git", "clone", "--quiet", f"file://{PROJECT}", str(clone)], check=True)
        with _busy_loop() if load == "busy" else nullcontext():
            return _demo(clone, inherited | caches)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _demo(clone: Path, env: dict[str, str]) -> FirstRun:
    python = Path(sys.base_prefix) / "bin" / "python3"
    began, before = time.monotonic(), _cpu_of_children_s()
    lines: list[Line] = []
    with subprocess.Popen(
        ["make", "demo", f"PYTHON={python}"],
        cwd=clone,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            for text in process.stdout or ():
                lines.append(Line(time.monotonic() - began, text.rstrip("\n")))
                show_progress(f"{lines[-1].at_s:7.1f} {lines[-1].text}")
        except BaseException:
            # This is what Ctrl-C does. The demo then stops what it started.
            os.killpg(process.pid, signal.SIGINT)
            raise
    if process.returncode != 0:
        raise RunFailed(f"make demo ended with status {process.returncode}")
    return measured(lines, time.monotonic() - began, _cpu_of_children_s() - before)


@contextmanager
def _busy_loop() -> Iterator[None]:
    """Keep one core busy."""
    loop = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        loop.kill()
        loop.wait()


def _cpu_of_children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the figures, and return 1 if one misses its target or the demo failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--load", choices=("quiet", "busy", "both"), default="both")
    load = parser.parse_args(arguments).load
    held = True
    for each in ("quiet", "busy") if load == "both" else (load,):
        try:
            held &= print_lines(figures(first_run(each), each))
        except RunFailed as error:
            show_progress(f"{each}: {error}")
            held = False
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
