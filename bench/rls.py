"""Prints what row-level security costs, one JSON line each: python -m bench.rls [--only NAME].

Exits with status 1 if a figure misses its target, or if the measurement itself fails with a traceback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.runner import print_figures

FIGURES: Mapping[str, tuple[str, str]] = {
    "rls_list": ("policies", "costs"),
    "rls_get": ("policies", "costs"),
    "rls_search": ("policies", "costs"),
}
"""Every figure, with the module of this package and the function that measures it. One function may measure several."""


def main(arguments: Sequence[str] | None = None) -> int:
    return print_figures(FIGURES, __doc__, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
