"""The ways in which an attempt at a job ends without a result."""

from __future__ import annotations

from datetime import timedelta


class LeaseLost(Exception):
    """The job belongs to another worker now, or was canceled: nothing of this attempt may be committed."""


class JobFailed(Exception):
    """A failure of the work with a stable code. retryable: another attempt may succeed."""

    def __init__(self, code: str, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable


class Unavailable(Exception):
    """A dependency of ours is away, or refuses us: no fault of the work, so the attempt does not count.

    dependency: a name of backend.jobs.breakers. code, message: what the dependency answered, for operators.
    retry_after: how long the dependency asks to be left alone, None if it names no time.
    """

    def __init__(self, dependency: str, code: str, message: str, *, retry_after: timedelta | None = None) -> None:
        super().__init__(message)
        self.dependency = dependency
        self.code = code
        self.retry_after = retry_after
