"""Everything that a run needs: the service, its customers and their receiver, after a day without faults."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.chaos.clocks import clock_library
from tests.faults.chaos.customers import Customer, write_clip
from tests.faults.chaos.extents import Extent
from tests.faults.chaos.faults import World
from tests.faults.chaos.leftovers import Database
from tests.faults.chaos.receiver import Receiver
from tests.faults.chaos.servers import model_servers
from tests.faults.chaos.service import Service
from tests.faults.chaos.words import Patient

if TYPE_CHECKING:
    from tests.faults.chaos.run import Runs


@dataclass(frozen=True, slots=True)
class Started:
    """A service at work, and what faults act upon."""

    runs: Runs
    world: World


@contextmanager
def started(root: Path, extent: Extent, *, seed: int, patience: float) -> Iterator[Started]:
    """Start the service and its customers in a folder, and work through a day without faults.

    Once per process, because Django is set up here. patience: seconds for which customers wait in a run.
    """
    patient = Patient()
    with ExitStack() as stack:
        models, doors = stack.enter_context(model_servers(patient))
        clocks = clock_library() if extent.clocks else None
        chance = random.Random(seed)
        service = Service(root, models, clocks=clocks, chance=chance, durable=extent.durable, workers=extent.workers)
        stack.callback(service.stop)
        service.start()
        os.environ.update(service.env)
        import django

        django.setup()
        from tests.faults.chaos.run import Runs

        receiver = Receiver(random.Random(seed))
        stack.callback(receiver.close)
        customers = []
        for slug, scenes in extent.recordings.items():
            tenant_id, key = service.new_key(slug)
            clip = write_clip(root / f"{slug}.mp4", scenes)
            customers.append(Customer(slug, tenant_id, service.url, key, clip))
            customers[-1].register(f"{receiver.url}/{slug}")
        world = World(service, doors, receiver.door, patient)
        runs = Runs(world, extent, customers, receiver, Database(service.superuser_url), patience)
        runs.undisturbed()
        yield Started(runs, world)
