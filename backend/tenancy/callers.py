"""Who a request acts for: the API key or the member behind it, as rows that outlive the request remember it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Caller:
    """The API key or the member of a request; both None for work that no request began.

    signed_in_at: Unix time of a member's last authentication.
    """

    api_key_id: UUID | None = None
    person_id: UUID | None = None
    signed_in_at: float = 0.0


_NOBODY = Caller()
_caller: ContextVar[Caller] = ContextVar("caller", default=_NOBODY)


def current_caller() -> Caller:
    """Return the caller of the current request; in a worker an empty Caller."""
    return _caller.get()


@contextmanager
def acting_for(caller: Caller) -> Iterator[None]:
    """Name the caller of what happens in this block."""
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)
