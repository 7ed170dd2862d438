"""The fields that every log line of the current work carries: request, route, tenant, video, question, job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

NAMES = ("request", "route", "tenant", "video", "question", "job", "kind", "attempt")
"""Names of the fields, in the order of a log line."""

_fields: ContextVar[Mapping[str, str]] = ContextVar("log_fields")


@contextmanager
def bound(**fields: str) -> Iterator[None]:
    """Add fields to the log lines of the block, and of threads that take over its context. An empty field is left out.

    Raises ValueError for a name that is not in NAMES.
    """
    token = _fields.set(_with(fields))
    try:
        yield
    finally:
        _fields.reset(token)


def note(**fields: str) -> None:
    """Add fields that became known inside a block, until the enclosing bound() ends. Without one nothing is added."""
    if _fields.get(None) is not None:
        _fields.set(_with(fields))


def current() -> Mapping[str, str]:
    """Return the fields of the current work, in the order of NAMES."""
    return _fields.get({})


def _with(fields: Mapping[str, str]) -> Mapping[str, str]:
    unknown = fields.keys() - set(NAMES)
    if unknown:
        raise ValueError(f"no log line has the fields {sorted(unknown)}")
    merged = {**current(), **{name: value for name, value in fields.items() if value}}
    return {name: merged[name] for name in NAMES if name in merged}
