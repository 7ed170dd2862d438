"""Runs a table of figures and prints a JSON line for each."""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable, Mapping, Sequence

from bench.figures import Figures, tell


def print_figures(
    figures: Mapping[str, tuple[str, str]], description: str | None, arguments: Sequence[str] | None
) -> int:
    """Exit status of a runner. figures: by name, the module of this package and the function that measures it.

    A function may give several figures. A module is imported when it is wanted: some of them load models.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="NAME", help="a part of the names of the figures wanted")
    only = parser.parse_args(arguments).only
    wanted = dict.fromkeys(place for name, place in figures.items() if only in name)
    if not wanted:
        parser.error(f"no figure is called like {only!r}: {', '.join(figures)}")
    for module, function in wanted:
        begun = time.monotonic()
        tell(f"{module}.{function} …")
        measure: Callable[[], Figures] = getattr(importlib.import_module(f"bench.{module}"), function)
        for figure in measure():
            if only in figure.name:
                print(figure.line(), flush=True)
        tell(f"{module}.{function}: {time.monotonic() - begun:.0f} s")
    return 0
