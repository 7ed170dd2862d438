"""Runs whose faults are chosen: what a random run would have to be lucky to meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.faults.chaos.doors import Way
from tests.faults.chaos.faults import Fault, World

AWAY_S = 60.0
PACE = 30.0
"""For what waits, half an hour passes in a minute."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """pace: minutes that pass for what waits while one minute passes for what works."""

    faults: Callable[[World], list[Fault]]
    pace: float = 1.0


def _half_an_hour_away(world: World) -> list[Fault]:
    """Let the model servers be away, and replace every worker meanwhile, as a deployment does."""

    def release() -> None:
        for name in world.service.names():
            if name.startswith("worker"):
                world.service.terminate(name)

    shut, opened = (lambda: world.models.turn(Way.SHUT)), (lambda: world.models.turn(Way.OPEN))
    return [Fault("models away", 1.0, shut, AWAY_S, opened), Fault("release", AWAY_S / 2, release)]


def _wrong_key(world: World) -> list[Fault]:
    """Let the model server refuse our key for a minute."""

    def turn(to: str) -> None:
        world.patient.ill = to

    return [Fault("wrong key", 1.0, lambda: turn("wrong_key"), 1.0 + AWAY_S, lambda: turn(""))]


SCENARIOS = {"models-away": Scenario(_half_an_hour_away, PACE), "wrong-key": Scenario(_wrong_key)}
