"""Which model plays each role here, where it runs, and whether its server answers and serves it."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlsplit

from gpu_workers.engine.models.capabilities import report_of, served_model
from gpu_workers.engine.models.model_table import ROLES, find_model, preset
from gpu_workers.engine.models.roles import ChatCapabilities, ModelError
from gpu_workers.engine.models.settings import CONSE, MINILM, SSD, ModelSettings, RoleSettings

logger = logging.getLogger("ava.models")

CHAT_ROLES = ("describer", "checker", "reasoner")
SERVED, IN_PROCESS, ABSENT = "served", "in_process", "absent"


@dataclass(frozen=True, slots=True)
class RoleStatus:
    """What is known of one role.

    runs: "served", "in_process" or "absent", for a role that this configuration does without. host: of the server.
    window: tokens, None where that means nothing. abilities: what a chat server showed. error: code and reason why a
    served model cannot be used now, "" if it can.
    """

    role: str
    runs: str
    model: str = ""
    host: str = ""
    licence: str = ""
    revision: str = ""
    window: int | None = None
    abilities: dict[str, bool] = field(default_factory=dict)
    refuses: tuple[str, ...] = ()
    error: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def model_status(settings: ModelSettings) -> list[RoleStatus]:
    """Return the status of every role. Servers are asked; nothing is loaded."""
    return [*(_served_or_not(name, settings) for name in ROLES), _detector(settings)]


def log_faults(statuses: list[RoleStatus]) -> list[RoleStatus]:
    """Log an error for each served model that cannot be used, and return these roles."""
    faulty = [status for status in statuses if status.error]
    for status in faulty:
        logger.error("%s (%s at %s): %s", status.role, status.model or "any model", status.host, status.error)
    return faulty


def _served_or_not(name: str, settings: ModelSettings) -> RoleStatus:
    role = settings.role(name)
    if not role.url:
        return _unserved(name, role, settings)
    host = urlsplit(role.url).netloc.rpartition("@")[2]
    try:
        listed = served_model(role)
        if name in CHAT_ROLES:
            # Its abilities are remembered, so the listing alone shows whether the server still answers.
            report = report_of(role)
            shown = report.capabilities
            return _known(
                name, SERVED, report.model, host, shown.context_tokens, _abilities(shown), refuses=report.refuses
            )
        return _known(name, SERVED, listed.name, host, listed.window)
    except ModelError as error:
        return _known(name, SERVED, role.model, host, error=f"{error.code}: {error}")


def _unserved(name: str, role: RoleSettings, settings: ModelSettings) -> RoleStatus:
    """Return the status of a role without a server, as models.bindings fills it."""
    in_process = {
        "describer": "observer",
        "checker": "measurements read by the reasoner",
        "text_embedder": role.model or MINILM,
        "frame_embedder": role.model or CONSE,
        "token_embedder": settings.similarity,
        "transcriber": role.model or preset(settings.preset).in_process["transcriber"],
    }
    if name not in in_process:
        return RoleStatus(name, ABSENT)
    return _known(name, IN_PROCESS, in_process[name])


def _detector(settings: ModelSettings) -> RoleStatus:
    """Return the status of the detector. An unnamed one of a preset with a GPU is the embedded one on a CPU; a GPU is
    not looked for here, since that would load torch."""
    if settings.describer.url and not settings.tracks:
        return RoleStatus("detector", ABSENT)
    usual = SSD if settings.device == "cpu" else preset(settings.preset).in_process["detector"]
    return _known("detector", IN_PROCESS, settings.detector or usual)


def _known(
    role: str,
    runs: str,
    model: str,
    host: str = "",
    window: int | None = None,
    abilities: dict[str, bool] | None = None,
    *,
    refuses: tuple[str, ...] = (),
    error: str = "",
) -> RoleStatus:
    row = find_model(model)
    licence, revision = (row.licence, row.revision) if row is not None else ("", "")
    return RoleStatus(role, runs, model, host, licence, revision, window, abilities or {}, refuses, error)


def _abilities(shown: ChatCapabilities) -> dict[str, bool]:
    return {
        "images": shown.images,
        "video": shown.video,
        "schemas": shown.schemas,
        "samples": shown.samples,
        "log_probabilities": shown.log_probabilities,
        "thinks": shown.thinks,
    }
