"""Waiting for an outcome: short looks, and `Prefer: wait=N` of requests that create a question or a search."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol

from rest_framework.request import Request
from rest_framework.response import Response

from backend.tenancy.authentication import Principal
from backend.tenancy.context import tenant_scope

POLL_SECONDS = 0.25
LONGEST_WAIT_SECONDS = 60
_WAIT = re.compile(r"(?:^|[,;\s])wait=(\d{1,6})(?=$|[,;\s])")
_ASYNC = re.compile(r"(?:^|[,;\s])respond-async(?=$|[,;\s])")


@dataclass(frozen=True, slots=True)
class PollClock:
    """Time of a wait; tests hold it still."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def wait_until(look: Callable[[], bool], *, seconds: float, every: float = POLL_SECONDS) -> bool:
    """Look until look() is true or the time is over. Returns the result of the last look."""
    clock = PollClock()
    deadline = clock.now() + seconds
    while True:
        result = look()
        left = deadline - clock.now()
        if result or left <= 0:
            return result
        clock.sleep(min(every, left))


def wanted_wait(request: Request, *, default: int = 0) -> int:
    """Return the seconds of `Prefer: wait=N`, at most 60; without it 0 for `respond-async`, else the default."""
    preferences = request.headers.get("Prefer", "")
    wait = _WAIT.search(preferences)
    if wait:
        return min(int(wait[1]), LONGEST_WAIT_SECONDS)
    return 0 if _ASYNC.search(preferences) else default


class WaitingView(Protocol):
    """A view whose POST creates a resource and can wait for its outcome."""

    @property
    def principal(self) -> Principal: ...

    def is_over(self, id: str) -> bool:
        """Whether the resource has an outcome. id: its public id."""
        ...

    def present(self, request: Request, id: str) -> Any:
        """Return the body of the resource as it is now. id: its public id."""
        ...


Create = Callable[[Any, Request], Response]


def waits_for_outcome(*, default: int = 0, every: float = POLL_SECONDS) -> Callable[[Create], Create]:
    """Decorate a POST method that creates a resource and answers 202 with its body.

    The creation is one transaction, committed before the wait begins: no worker sees the resource until then. The
    answer becomes 200 if the resource has an outcome in time. default, every: seconds of the wait without a
    preference, and between two looks; each look is a transaction of its own.
    """

    def decorate(create: Create) -> Create:
        @wraps(create)
        def post(view: WaitingView, request: Request) -> Response:
            tenant_id = view.principal.tenant_id
            with tenant_scope(tenant_id):
                response = create(view, request)
            seconds = wanted_wait(request, default=default)
            if response.status_code != 202 or not seconds:
                return response
            id = response.data["id"]

            def look() -> bool:
                with tenant_scope(tenant_id):
                    return view.is_over(id)

            is_over = wait_until(look, seconds=seconds, every=every)
            with tenant_scope(tenant_id):
                response.data = view.present(request, id)
            response.status_code = 200 if is_over else 202
            response.headers["Preference-Applied"] = f"wait={seconds}"
            return response

        return post

    return decorate
