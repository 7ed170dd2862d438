"""The dependencies that must answer before this process takes requests. Each app registers those that it owns."""

from __future__ import annotations

from collections.abc import Callable

Check = Callable[[], None]


class NotReady(Exception):
    """A dependency that a request would need does not answer."""


_checks: dict[str, Check] = {}


def register(name: str, check: Check) -> None:
    """Add a check, run by every /readyz in the order of registration. check: raises NotReady with the reason."""
    _checks[name] = check


def registered() -> dict[str, Check]:
    """Return the checks by name."""
    return dict(_checks)
