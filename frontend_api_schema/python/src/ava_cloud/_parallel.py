"""Several uploads of parts at once, with threads or with asyncio; the only place where the two façades differ."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
Looks = Generator[None, None, None]
AsyncLooks = AsyncGenerator[None, None]
"""Moments at which it is worth to look again."""


def each_at_once(work: Callable[[T], None], items: Iterable[T], limit: int) -> None:
    """Do the work for each item, for up to limit items at once. Raises the first error and begins no further item."""
    pool = ThreadPoolExecutor(limit, thread_name_prefix="ava-upload")
    try:
        for _ in pool.map(work, items):
            pass
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


async def async_each_at_once(work: Callable[[T], Awaitable[None]], items: Iterable[T], limit: int) -> None:
    """Do the same with asyncio; the first error cancels what runs."""
    free = asyncio.Semaphore(limit)

    async def one(item: T) -> None:
        async with free:
            await work(item)

    tasks = [asyncio.ensure_future(one(item)) for item in items]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def sleep(seconds: float) -> None:
    time.sleep(seconds)


async def async_sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)
