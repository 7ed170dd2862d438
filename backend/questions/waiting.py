"""`Prefer: wait=N` of requests that create a question or a search, and wait for its outcome."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol

from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.public_ids import decode
from backend.api.server.awaiting import POLL_SECONDS, PollClock, hold, server_awaits
from backend.api.server.open_replies import open_reply
from backend.tenancy.authentication import Principal
from backend.tenancy.context import tenant_scope

LONGEST_WAIT_SECONDS = 60
_WAIT = re.compile(r"(?:^|[,;\s])wait=(\d{1,6})(?=$|[,;\s])")
_ASYNC = re.compile(r"(?:^|[,;\s])respond-async(?=$|[,;\s])")


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


class Outcome:
    """The outcome that a created resource will have (an AwaitedReply). id: the resource's public id."""

    def __init__(self, view: WaitingView, request: Request, id: str, seconds: int) -> None:
        self.subject, self.seconds, self.over = decode(id.partition("_")[0], id), float(seconds), False
        self._view, self._request, self._id = view, request, id

    def look(self) -> bytes:
        """Look whether the resource has an outcome."""
        with tenant_scope(self._view.principal.tenant_id):
            self.over = self._view.is_over(self._id)
        return b""

    def present(self, response: Response) -> None:
        """Write the resource as it is now into the 202 of its creation. The status is 200 if it is over."""
        with tenant_scope(self._view.principal.tenant_id):
            response.data = self._view.present(self._request, self._id)
        response.status_code = 200 if self.over else 202
        response.headers["Preference-Applied"] = f"wait={self.seconds:.0f}"
        if response.is_rendered:
            response.content = response.rendered_content
            response.headers["Content-Length"] = str(len(response.content))


Create = Callable[[Any, Request], Response]


def waits_for_outcome(*, default: int = 0, every: float = POLL_SECONDS) -> Callable[[Create], Create]:
    """Decorate a POST method that creates a resource and answers 202 with its body.

    The creation is one transaction, committed before the wait begins: no worker sees the resource until then. The
    answer becomes 200 if the resource has an outcome in time. The server waits without a thread; a test client waits
    on its own. default, every: seconds of the wait without a preference, and between two looks of a test client; each
    look is a transaction of its own. Refuses with 429 `too_many_open_streams` before anything is created.
    """

    def decorate(create: Create) -> Create:
        @wraps(create)
        def post(view: WaitingView, request: Request) -> Response:
            tenant_id = view.principal.tenant_id
            seconds = wanted_wait(request, default=default)
            if not seconds:
                with tenant_scope(tenant_id):
                    return create(view, request)
            reply = open_reply(view.principal)
            held = False
            try:
                with tenant_scope(tenant_id):
                    response = create(view, request)
                if response.status_code != 202:
                    return response
                outcome = Outcome(view, request, response.data["id"], seconds)
                if server_awaits(request):
                    hold(response, outcome, reply)
                    held = True
                    return response
                wait_until(lambda: bool(outcome.look() or outcome.over), seconds=seconds, every=every)
                outcome.present(response)
                return response
            finally:
                if not held:
                    reply.close()

        return post

    return decorate
