"""Progress of the demo: a bar per stage with rate and time left, or plain lines without a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from infra.local.heartbeat import Heartbeat

PLAIN_EVERY_S = 5.0


class Stages:
    """Shows stages, as a context manager: move(name, done, …) opens a stage or moves it."""

    def __init__(self) -> None:
        self._console = Console()
        self._live = self._console.is_terminal
        self._bars = Progress(
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=32),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._live,
        )
        self._heartbeat = Heartbeat(self._print)
        self._tasks: dict[str, TaskID] = {}
        self._seen: dict[str, tuple[float, float, str, float]] = {}

    def __enter__(self) -> Stages:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def say(self, line: str) -> None:
        """Print a line, from any thread."""
        self._heartbeat.say(line)

    def during(self, name: str | Callable[[], str]) -> AbstractContextManager[None]:
        """Say what goes on inside the block whenever nothing else is printed for a while."""
        return self._heartbeat.during(name)

    def move(self, name: str, done: float, total: float, unit: str) -> None:
        """Show that a stage has done `done` of `total` in unit (such as "MB" or "s of video")."""
        now = time.monotonic()
        if name not in self._seen:
            self._seen[name] = (now, 0.0, unit, -PLAIN_EVERY_S)
            self._tasks[name] = self._bars.add_task(name, total=total or 1, rate="")
        started, last, _, printed_at = self._seen[name]
        done = max(done, last)
        elapsed = max(now - started, 1e-3)
        rate = done / elapsed
        self._bars.update(self._tasks[name], completed=done, total=total or 1, rate=f"{rate:.1f} {unit}/s")
        finished = total > 0 and done >= total
        if not self._live and done != last and (finished or now - printed_at >= PLAIN_EVERY_S):
            remaining = f", {(total - done) / rate:.0f} s left" if rate > 0 and not finished else ""
            self.say(f"  {name:<12} {done:.0f} of {total:.0f} {unit} ({rate:.1f} {unit}/s{remaining})")
            printed_at = now
        self._seen[name] = (started, done, unit, printed_at)

    def _print(self, line: str) -> None:
        if self._live:
            self._console.print(line, markup=False, highlight=False)
        else:
            print(line, flush=True)
