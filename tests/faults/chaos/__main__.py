"""`make chaos RUNS=n SEED=s`: run the service under random faults, and compare each run with an undisturbed one."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from infra.local.leaving import unwind_on_signals
from tests.faults.chaos.extents import EXTENTS
from tests.faults.chaos.results import Result
from tests.faults.chaos.scenarios import SCENARIOS
from tests.faults.chaos.world import Started, started


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first run; each next run adds one")
    parser.add_argument("--scenario", choices=sorted(SCENARIOS), help="faults of this kind instead of random ones")
    parser.add_argument("--extent", choices=sorted(EXTENTS), default="whole", help="how much each run contains")
    parser.add_argument("--patience", type=float, default=300.0, help="seconds for which customers wait in a run")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    options = parser.parse_args(arguments)
    unwind_on_signals()
    failed = 0
    root = Path(tempfile.mkdtemp(prefix="ava-chaos-"))
    # An unprivileged server process must be able to enter it.
    root.chmod(0o755)
    try:
        with started(root, EXTENTS[options.extent], seed=options.seed, patience=options.patience) as world:
            for seed in range(options.seed, options.seed + options.runs):
                print(f"run {seed}", flush=True)
                result = _run(world, seed, options.scenario)
                failed += bool(result.trouble)
                outcome = "FAILED" if result.trouble else "passed"
                print(f"run {seed} {outcome} in {result.seconds:.0f} s, pool {result.pool or 'unknown'}", flush=True)
                for text in result.trouble:
                    print(f"    {text}", flush=True)
    finally:
        if options.keep or failed:
            print(f"logs: {root}", flush=True)
        else:
            shutil.rmtree(root, ignore_errors=True)
    print(f"{options.runs - failed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


def _run(started: Started, seed: int, scenario: str | None) -> Result:
    """Do one run. A run that breaks off has failed."""
    began = time.monotonic()
    try:
        if scenario is None:
            return started.runs.run(seed)
        return started.runs.run(seed, SCENARIOS[scenario](started.world))
    except Exception as error:
        return Result(seed, [f"the run broke off: {type(error).__name__}: {error}"], time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(main())
