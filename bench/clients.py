"""Prints the figures of the customers' clients, one JSON line each: python -m bench.clients [--only NAME].

Exits with status 1 if a figure misses its target, or if the measurement itself fails with a traceback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.runner import print_figures

FIGURES: Mapping[str, tuple[str, str]] = {
    "upload_memory_mb": ("client_programs", "uploads"),
    "upload_rate_ratio": ("client_programs", "uploads"),
    "help_cpu_s": ("client_programs", "command_start"),
    "mcp_tools_tokens": ("client_programs", "agents"),
    "mcp_questions_paid": ("client_programs", "agents"),
}
"""Every figure, with the module of this package and the function that measures it. One function may measure several."""


def main(arguments: Sequence[str] | None = None) -> int:
    return print_figures(FIGURES, __doc__, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
