"""`make chaos RUNS=n SEED=s`: run the service under random faults, and compare each run with an undisturbed one."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.chaos.clocks import clock_library
from tests.faults.chaos.customers import CLIPS, Customer, write_clip
from tests.faults.chaos.faults import World
from tests.faults.chaos.leftovers import Database
from tests.faults.chaos.receiver import Receiver
from tests.faults.chaos.servers import model_servers
from tests.faults.chaos.service import Service
from tests.faults.chaos.words import Patient

if TYPE_CHECKING:
    from tests.faults.chaos.run import Runs


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first run; each next run adds one")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    options = parser.parse_args(arguments)
    failed = 0
    root = Path(tempfile.mkdtemp(prefix="ava-chaos-"))
    # An unprivileged server process must be able to enter it.
    root.chmod(0o755)
    try:
        with runs_of(root, options.seed) as runs:
            for seed in range(options.seed, options.seed + options.runs):
                print(f"run {seed}", flush=True)
                result = runs.run(seed)
                failed += bool(result.trouble)
                print(f"run {seed} {'FAILED' if result.trouble else 'passed'} in {result.seconds:.0f} s", flush=True)
                for text in result.trouble:
                    print(f"    {text}", flush=True)
    finally:
        if options.keep or failed:
            print(f"logs: {root}", flush=True)
        else:
            shutil.rmtree(root, ignore_errors=True)
    print(f"{options.runs - failed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


@contextmanager
def runs_of(root: Path, seed: int) -> Iterator[Runs]:
    """Start the service and its customers, and work through a day without faults."""
    chance = random.Random(seed)
    patient = Patient()
    with ExitStack() as stack:
        models, doors = stack.enter_context(model_servers(patient))
        service = Service(root, models, clocks=clock_library(), chance=chance)
        stack.callback(service.stop)
        service.start()
        os.environ.update(service.env)
        import django

        django.setup()
        from tests.faults.chaos.run import Runs

        receiver = Receiver(random.Random(seed))
        stack.callback(receiver.close)
        customers = []
        for slug, scenes in CLIPS.items():
            tenant_id, key = service.new_key(slug)
            clip = write_clip(root / f"{slug}.mp4", scenes)
            customers.append(Customer(slug, tenant_id, service.url, key, clip))
            customers[-1].register(f"{receiver.url}/{slug}")
        world = World(service, doors, patient)
        runs = Runs(world, customers, receiver, Database(service.superuser_url))
        runs.undisturbed()
        yield runs


if __name__ == "__main__":
    sys.exit(main())
