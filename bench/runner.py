"""Runs a table of figures and prints a JSON line for each."""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable, Mapping, Sequence

from bench.figures import Figures, print_lines, show_progress


def print_figures(
    figures: Mapping[str, tuple[str, str]], description: str | None, arguments: Sequence[str] | None
) -> int:
    """Run the selected figures and return the exit status: 1 if a printed figure misses its target. figures: module
    and function by name.

    A function may return several figures. --only also takes a function's name, for all its figures. A module is
    imported only when it is needed, because some load models.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only",
        default="",
        metavar="NAME",
        help="run only figures whose name contains NAME, or those of function NAME",
    )
    only = parser.parse_args(arguments).only
    selected = dict.fromkeys(target for name, target in figures.items() if only in name or only == target[1])
    if not selected:
        parser.error(f"no figure is called like {only!r}: {', '.join(figures)}")
    held = True
    for module, function in selected:
        began = time.monotonic()
        show_progress(f"{module}.{function} …")
        measure: Callable[[], Figures] = getattr(importlib.import_module(f"bench.{module}"), function)
        held &= print_lines(figure for figure in measure() if only in figure.name or only == function)
        show_progress(f"{module}.{function}: {time.monotonic() - began:.0f} s")
    return 0 if held else 1
