"""Runs whose faults are chosen: what a random run would have to be lucky to meet."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.faults.chaos.doors import Way
from tests.faults.chaos.faults import PACE, Fault, World, wrong_key
from tests.faults.chaos.words import DESCRIBER, REASONER

AWAY_S = 60.0
SLOW_FOR_S = 5.0

Scenario = Callable[[World], list[Fault]]


def _half_an_hour_away(world: World) -> list[Fault]:
    """Let the model servers be away, and replace every worker meanwhile, as a deployment does."""

    def release() -> None:
        for name in world.service.names():
            if name.startswith("worker"):
                world.service.terminate(name)

    shut, opened = (lambda: world.models.turn(Way.SHUT)), (lambda: world.models.turn(Way.OPEN))
    return [Fault("models away", 1.0, shut, AWAY_S, opened, PACE), Fault("release", AWAY_S / 2, release)]


def _wrong_key(world: World, role: str) -> list[Fault]:
    """Let the model server refuse our key for a minute."""
    return [wrong_key(world, role, 1.0, 1.0 + AWAY_S)]


def _a_few(world: World) -> list[Fault]:
    """Break one thing after another while the models are slow, so that each fault meets work."""
    service, patient = world.service, world.patient
    slow, well = partial(patient.fall_ill, "slow"), partial(patient.fall_ill, "")
    return [
        Fault("models slow", 0.0, slow, SLOW_FOR_S, well),
        Fault("kill a child of worker-index", 2.0, partial(service.kill_child, "worker-index")),
        Fault("restart the broker empty", 3.0, service.empty_broker),
        Fault("kill the pooler", 4.0, service.kill_pooler, repeats=True),
    ]


SCENARIOS: dict[str, Scenario] = {
    "a-few": _a_few,
    "models-away": _half_an_hour_away,
    "wrong-key-of-describer": partial(_wrong_key, role=DESCRIBER),
    "wrong-key-of-reasoner": partial(_wrong_key, role=REASONER),
}
