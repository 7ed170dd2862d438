"""Questions asked of an arm one after another, or several at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Q = TypeVar("Q")
R = TypeVar("R")


@contextmanager
def answers(questions: Sequence[Q], ask: Callable[[Q], R], *, workers: int) -> Iterator[Iterator[R]]:
    """Yield the answers in the order of the questions, of which up to workers are asked at once.

    On leaving, questions that are not begun are dropped. Those that are begun end by themselves.
    """
    if workers == 1:
        # On this thread, so that Ctrl-C stops within a question.
        yield map(ask, questions)
        return
    pool = ThreadPoolExecutor(workers, thread_name_prefix="question")
    try:
        yield pool.map(ask, questions)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
