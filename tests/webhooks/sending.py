"""Runs a sender in a thread of the test, as the process of the deployment does on its main thread."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from backend.jobs.dispatching import mark_due
from workers.webhooks.webhook_sender import Sender


@contextmanager
def sending(*, worker: str = "sender", sockets: int = 64) -> Iterator[None]:
    """Run a sender until the block ends, and then let it drain."""
    started: list[tuple[Sender, asyncio.AbstractEventLoop]] = []
    ready = threading.Event()

    async def run() -> None:
        sender = Sender(worker=worker, sockets=sockets)
        started.append((sender, asyncio.get_running_loop()))
        ready.set()
        await sender.run()

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    ready.wait(60)
    sender, loop = started[0]
    try:
        yield
    finally:
        loop.call_soon_threadsafe(sender.stop)
        thread.join(60)
        assert not thread.is_alive(), "a sender that is asked to stop ends"


def until(holds: Callable[[], bool], *, seconds: float = 60.0) -> None:
    """Wait until a condition holds; jobs become due meanwhile, as the relay makes them."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "the condition did not come true"
        mark_due()
        time.sleep(0.02)
