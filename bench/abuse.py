"""Prints what abuses of one tenant cost another, one JSON line per figure: python -m bench.abuse [--only ABUSE].

Exits with status 1 if a figure misses its target, or if the measurement itself fails with a traceback.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from bench.abused_service import REQUESTS, SENT, AbusedService, abused_service
from bench.abusers import ABUSES
from bench.figures import Figures, at_most, print_lines

SLOWER, HEALTHZ_S = 2.0, 0.1
"""Largest p95 of a customer over its own without the abuse, and largest p95 of /healthz in seconds."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", choices=["", *(abuse.__name__ for abuse in ABUSES)])
    only = parser.parse_args(arguments).only
    with abused_service() as service:
        service.customers_p95()  # the first requests open connections
        return 0 if print_lines(_figures(service, only)) else 1


def _figures(service: AbusedService, only: str) -> Figures:
    for abuse in ABUSES:
        name = abuse.__name__
        if only not in ("", name):
            continue
        calm = service.customers_p95()
        with abuse(service):
            loaded, healthz = service.customers_p95(), service.healthz_p95()
        for what, before in calm.items():
            count = REQUESTS if what == "list" else SENT
            reference = f"{count} requests of another tenant just before the abuse, p95 {1000 * before:.1f} ms"
            yield at_most(f"{name}_{what}_p95_ratio", loaded[what] / before, SLOWER, reference)
        yield at_most(f"{name}_healthz_p95_s", healthz, HEALTHZ_S, f"{REQUESTS} requests during the abuse, in seconds")


if __name__ == "__main__":
    raise SystemExit(main())
