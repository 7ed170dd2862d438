"""The load of a soak: customers who index, ask and delete, and readers who read at a steady rate."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator

import httpx

from tests.faults.chaos.customers import Customer, GaveUp, Impatience

READS_PER_S = 50.0
READERS = 10
PATIENCE_S = 600.0


class Worked:
    """What the customers have done, and what went wrong. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.videos = 0
        self.trouble: list[str] = []

    def indexed(self) -> None:
        with self._lock:
            self.videos += 1

    def failed(self, text: str) -> None:
        with self._lock:
            self.trouble.append(text)


def work(customer: Customer, worked: Worked, stop: threading.Event) -> None:
    """Upload a recording, ask about it and delete the one before, again and again until stop is set."""
    before = ""
    for number in itertools.count():
        if stop.is_set():
            return
        customer.impatience = Impatience(PATIENCE_S)
        try:
            video_id = customer.upload(f"soak-{number}")
            video = customer.video(video_id)
            question = customer.answer(customer.ask(video_id))
            if (video["status"], question["status"]) != ("ready", "succeeded"):
                worked.failed(f"{customer.slug}: {video_id} is {video['status']}, its question {question['status']}")
            if before:
                customer.delete(before)
        except (GaveUp, AssertionError) as error:
            worked.failed(f"{customer.slug}: {error}")
            continue
        before = video_id
        worked.indexed()


class Reads:
    """Readers that send READS_PER_S requests a second together until stop is set."""

    def __init__(self, url: str, keys: list[str], stop: threading.Event) -> None:
        self._url, self._stop, self._lock = url, stop, threading.Lock()
        self._seconds: list[float] = []
        self.failed = 0
        for number in range(READERS):
            key = keys[number % len(keys)]
            threading.Thread(target=self._read, args=(key, number), daemon=True).start()

    def take(self) -> list[float]:
        """Return the seconds of the requests since the last call."""
        with self._lock:
            taken, self._seconds = self._seconds, []
        return taken

    def _read(self, key: str, number: int) -> None:
        paths = _paths(number)
        began, pause = time.monotonic() + number / READS_PER_S, READERS / READS_PER_S
        headers = {"Authorization": f"Bearer {key}"}
        with httpx.Client(base_url=f"{self._url}/v1", headers=headers, timeout=30, trust_env=False) as client:
            for turn in itertools.count():
                if self._stop.wait(max(0.0, began + turn * pause - time.monotonic())):
                    return
                sent = time.perf_counter()
                try:
                    good = client.get(next(paths)).status_code == 200
                except httpx.TransportError:
                    good = False
                with self._lock:
                    self._seconds.append(time.perf_counter() - sent)
                    self.failed += not good


def _paths(number: int) -> Iterator[str]:
    paths = ("/videos?limit=20", "/questions?limit=20", "/index-jobs?limit=20", "/webhook-deliveries?limit=20")
    return itertools.cycle(paths[number % len(paths) :] + paths[: number % len(paths)])
