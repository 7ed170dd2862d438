"""Every operation of the API, as `operations.<group>.<operation>`. They are imported when they are first used."""

from importlib import import_module
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError:
        raise AttributeError(f"there is no group of operations {name!r}") from None
