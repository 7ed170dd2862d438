"""What goes wrong in a run, and when."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.faults.chaos.doors import Door, Way
from tests.faults.chaos.servers import Doors
from tests.faults.chaos.service import Service
from tests.faults.chaos.words import ILLS, Patient

WINDOW_S = 12.0
"""Time from the start of a run in which faults begin."""
CHILDLESS = frozenset({"relay", "signer"})
LONGEST_S = 8.0
"""Longest fault: twice a lease."""


@dataclass(frozen=True, slots=True)
class Fault:
    """begin: at second `at` of the run. end: at second `until`; None for a fault that is over at once."""

    name: str
    at: float
    begin: Callable[[], None]
    until: float = 0.0
    end: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class World:
    """What faults act upon. models, receiver: the doors of the model servers and of the customers' receiver."""

    service: Service
    models: Doors
    receiver: Door
    patient: Patient


Maker = Callable[[World, random.Random, float], Fault]


def _kill(world: World, chance: random.Random, at: float) -> Fault:
    name = chance.choice(world.service.names())
    return Fault(f"kill {name}", at, lambda: world.service.kill(name))


def _kill_child(world: World, chance: random.Random, at: float) -> Fault:
    name = chance.choice([name for name in world.service.names() if name not in CHILDLESS])
    return Fault(f"kill a child of {name}", at, lambda: world.service.kill_child(name))


def _terminate(world: World, chance: random.Random, at: float) -> Fault:
    name = chance.choice(world.service.names())
    return Fault(f"terminate {name}", at, lambda: world.service.terminate(name))


def _pause(world: World, chance: random.Random, at: float) -> Fault:
    name, seconds = chance.choice(world.service.names()), chance.uniform(1, LONGEST_S)
    return Fault(f"pause {name} for {seconds:.0f} s", at, lambda: world.service.pause(name, seconds))


def _empty_broker(world: World, chance: random.Random, at: float) -> Fault:
    return Fault("restart the broker empty", at, world.service.empty_broker)


def _pause_broker(world: World, chance: random.Random, at: float) -> Fault:
    until = at + chance.uniform(1, LONGEST_S)
    return Fault(
        "pause the broker",
        at,
        lambda: world.service.pause_broker(True),
        until,
        lambda: world.service.pause_broker(False),
    )


def _crash_postgres(world: World, chance: random.Random, at: float) -> Fault:
    return Fault("restart PostgreSQL at once", at, world.service.crash_postgres)


def _kill_pooler(world: World, chance: random.Random, at: float) -> Fault:
    return Fault("kill the pooler", at, world.service.kill_pooler)


def _turn(name: str, door: Door | Doors, way: Way, chance: random.Random, at: float) -> Fault:
    until = at + chance.uniform(2, LONGEST_S)
    return Fault(name, at, lambda: door.turn(way), until, lambda: door.turn(Way.OPEN))


def _storage_away(world: World, chance: random.Random, at: float) -> Fault:
    door = world.service.storage
    assert door is not None
    return _turn("storage away", door, chance.choice([Way.SHUT, Way.HANGING]), chance, at)


def _models_away(world: World, chance: random.Random, at: float) -> Fault:
    return _turn("models away", world.models, chance.choice([Way.SHUT, Way.HANGING]), chance, at)


def _receiver_away(world: World, chance: random.Random, at: float) -> Fault:
    return _turn("receiver away", world.receiver, chance.choice([Way.SHUT, Way.HANGING]), chance, at)


def _models_ill(world: World, chance: random.Random, at: float) -> Fault:
    ill, until = chance.choice(sorted(ILLS)), at + chance.uniform(2, LONGEST_S)

    def turn(to: str) -> Callable[[], None]:
        return lambda: setattr(world.patient, "ill", to)

    return Fault(f"models {ill}", at, turn(ill), until, turn(""))


def _full_disk(world: World, chance: random.Random, at: float) -> Fault:
    until = at + chance.uniform(2, LONGEST_S)
    scratch = world.service.scratch
    return Fault("scratch disk full", at, scratch.fill, until, scratch.empty)


MAKERS: tuple[tuple[Maker, int], ...] = (
    (_kill, 4),
    (_kill_child, 3),
    (_terminate, 2),
    (_pause, 2),
    (_empty_broker, 1),
    (_pause_broker, 1),
    (_crash_postgres, 2),
    (_kill_pooler, 1),
    (_storage_away, 2),
    (_models_away, 2),
    (_models_ill, 3),
    (_receiver_away, 1),
    (_full_disk, 1),
)
"""Kinds of faults, with their weights."""


def faults_of(world: World, chance: random.Random) -> list[Fault]:
    """Return the faults of one run, in the order of their beginnings."""
    makers = chance.choices([maker for maker, _ in MAKERS], [weight for _, weight in MAKERS], k=chance.randint(2, 5))
    made = [maker(world, chance, chance.uniform(0, WINDOW_S)) for maker in makers]
    return sorted(made, key=lambda fault: fault.at)
