"""Threads that belong to the work that started them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


class ContextPool(ThreadPoolExecutor):
    """A pool whose tasks run in a copy of the caller's context, so that traces and log lines know whose work it is."""

    def submit(
        self, fn: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Future[Result]:
        return super().submit(partial(copy_context().run, fn, *args, **kwargs))
