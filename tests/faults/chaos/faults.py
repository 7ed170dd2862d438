"""What goes wrong in a run, and when."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from tests.faults.chaos.doors import Door, Way
from tests.faults.chaos.servers import Doors
from tests.faults.chaos.service import Service
from tests.faults.chaos.words import DESCRIBER, ILLS, REASONER, Patient

CHILDLESS = frozenset({"relay", "signer"})
LONGEST_S = 8.0
"""Longest fault at the pace of work: twice a lease."""
SENDER = "webhooks"
PACE = 30.0
"""Pace of a long outage: for what waits, half an hour passes in a minute."""
LONG_OUTAGES_MIN = (10, 30)


@dataclass(frozen=True, slots=True)
class Fault:
    """begin: at second `at` of the run. end: at second `until`; None for a fault that is over at once.

    pace: minutes that pass for what waits while one minute passes for what works, until the fault ends. repeats:
    whether the sender of webhooks may lose the answer to a delivery, which is then sent again.
    """

    name: str
    at: float
    begin: Callable[[], None]
    until: float = 0.0
    end: Callable[[], None] | None = None
    pace: float = 1.0
    repeats: bool = False


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
    return Fault(f"kill {name}", at, lambda: world.service.kill(name), repeats=name == SENDER)


def _kill_child(world: World, chance: random.Random, at: float) -> Fault:
    name = chance.choice([name for name in world.service.names() if name not in CHILDLESS])
    return Fault(f"kill a child of {name}", at, lambda: world.service.kill_child(name), repeats=name == SENDER)


def _terminate(world: World, chance: random.Random, at: float) -> Fault:
    name = chance.choice(world.service.names())
    return Fault(f"terminate {name}", at, lambda: world.service.terminate(name), repeats=name == SENDER)


def _pause(world: World, chance: random.Random, at: float) -> Fault:
    name, seconds = chance.choice(world.service.names()), chance.uniform(1, LONGEST_S)
    pause = partial(world.service.pause, name, seconds)
    return Fault(f"pause {name} for {seconds:.0f} s", at, pause, repeats=name == SENDER)


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
    return Fault("restart PostgreSQL at once", at, world.service.crash_postgres, repeats=True)


def _kill_pooler(world: World, chance: random.Random, at: float) -> Fault:
    return Fault("kill the pooler", at, world.service.kill_pooler, repeats=True)


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
    fault = _turn("receiver away", world.receiver, chance.choice([Way.SHUT, Way.HANGING]), chance, at)
    return replace(fault, repeats=True)


def _long_outage(world: World, chance: random.Random, at: float) -> Fault:
    """Let a dependency be away for ten minutes or for half an hour, at the pace of what waits for it."""
    assert world.service.storage is not None
    doors: dict[str, Door | Doors] = {
        "models": world.models, "storage": world.service.storage, "receiver": world.receiver,
    }  # fmt: skip
    name, minutes = chance.choice(sorted(doors)), chance.choice(LONG_OUTAGES_MIN)
    door, way, until = doors[name], chance.choice([Way.SHUT, Way.HANGING]), at + minutes * 60 / PACE
    begin, end = partial(door.turn, way), partial(door.turn, Way.OPEN)
    return Fault(f"{name} away for {minutes} minutes", at, begin, until, end, PACE, repeats=name == "receiver")


def _models_ill(world: World, chance: random.Random, at: float) -> Fault:
    ill, until = chance.choice(sorted(ILLS)), at + chance.uniform(2, LONGEST_S)

    return Fault(f"models {ill}", at, partial(world.patient.fall_ill, ill), until, partial(world.patient.fall_ill, ""))


def _wrong_key(world: World, chance: random.Random, at: float) -> Fault:
    role, until = chance.choice([DESCRIBER, REASONER]), at + chance.uniform(2, LONGEST_S)
    return wrong_key(world, role, at, until)


def wrong_key(world: World, role: str, at: float, until: float) -> Fault:
    """Let the model server refuse our key from the calls of one role."""
    begin, end = partial(world.patient.fall_ill, "wrong_key", role), partial(world.patient.fall_ill, "")
    return Fault(f"wrong key of the {role}", at, begin, until, end)


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
    (_wrong_key, 1),
    (_long_outage, 1),
    (_receiver_away, 1),
    (_full_disk, 1),
)
"""Kinds of faults, with their weights."""


def faults_of(world: World, chance: random.Random, window_s: float) -> list[Fault]:
    """Return the faults of one run, in the order of their beginnings, all of which lie in the window."""
    makers = chance.choices([maker for maker, _ in MAKERS], [weight for _, weight in MAKERS], k=chance.randint(2, 5))
    made = [maker(world, chance, chance.uniform(0, window_s)) for maker in makers]
    return sorted(made, key=lambda fault: fault.at)
