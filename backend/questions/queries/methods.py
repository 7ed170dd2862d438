"""The answering methods, and which of them the models of this deployment can run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import redis

from backend.api.monitoring import model_reports
from gpu_workers.engine.answering.catalogue import CATALOGUE, MethodCard
from gpu_workers.engine.answering.contract import EFFORTS

ALWAYS_NEEDED = ("reasoner", "text_embedder", "frame_embedder")
"""Model roles that every method calls."""
ROLE_OF = {"checker": "checker"}
"""Model role that an artifact in a method's needs stands for; the other artifacts belong to an index."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a method cannot be used. code: stable. message: a sentence for the customer."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class TypicalCalls:
    """Fewest and most model calls of a typical question at one effort."""

    effort: str
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class MethodView:
    """A method as customers see it. usable: None while no worker has reported its models."""

    name: str
    version: str
    description: str
    needs: tuple[str, ...]
    efforts: tuple[str, ...]
    typical_calls: tuple[TypicalCalls, ...]
    usable: bool | None
    obstacles: tuple[Obstacle, ...]


def methods() -> list[MethodView]:
    """Return all methods. What the workers last found out about the models is read; nothing is loaded or asked here."""
    try:
        reports = model_reports.last_known()
    except redis.RedisError:
        reports = {}
    return [_view(method, reports) for method in CATALOGUE.values()]


def _view(method: MethodCard, reports: Mapping[str, Mapping[str, Any]]) -> MethodView:
    roles = [*ALWAYS_NEEDED, *(ROLE_OF[artifact] for artifact in sorted(method.needs) if artifact in ROLE_OF)]
    obstacles = tuple(_obstacle(role) for role in roles if not _is_usable(reports.get(role))) if reports else ()
    efforts = tuple(effort for effort in EFFORTS if effort in method.typical_calls)
    return MethodView(
        name=method.name,
        version=method.version,
        description=method.description,
        needs=tuple(sorted(method.needs)),
        efforts=efforts,
        typical_calls=tuple(TypicalCalls(effort, *method.typical_calls[effort]) for effort in efforts),
        usable=not obstacles if reports else None,
        obstacles=obstacles,
    )


def _is_usable(report: Mapping[str, Any] | None) -> bool:
    # A worker of another version may report other fields.
    return report is not None and bool(report.get("usable")) and report.get("runs") != "absent"


def _obstacle(role: str) -> Obstacle:
    words = role.replace("_", " ")
    return Obstacle("model_unavailable", f"The {words} of this deployment does not answer now. Try again later.")
