"""The invariants of the money. Each module registers its own when it is imported."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules


def load() -> None:
    """Import every module of this package, so that its invariants are registered."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
