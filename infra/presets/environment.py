"""What a preset of the model table means for the services of infra/compose.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gpu_workers.engine.models.model_table import Preset

FOLDER = Path(__file__).resolve().parent
EMBEDDERS = {"text_embedder", "frame_embedder", "token_embedder"}
"""Roles of which a question needs each, so that each is served or runs in the query worker."""


def profiles(preset: Preset, *, index_card: bool = True) -> list[str]:
    """Return the compose profiles of a preset: its index worker, its query worker, its model servers and its
    reasoner.

    A question needs models in its worker's process unless every embedder is served. index_card: whether the index
    worker has a share of the first card, if there is a card.
    """
    with_card = bool(preset.gpu_gib) and index_card
    index = "gpu-index" if with_card else "cpu-index"
    query = "query" if set(preset.roles) >= EMBEDDERS else "cpu-query"
    servers = (preset.with_index_card() if with_card else preset).servers
    return [index, query, *servers, *(["cpu-reasoner"] if preset.cpu_reasoner else [])]


def url_variables(preset: Preset) -> dict[str, str]:
    """Return the server of each role by the role's URL variable. A checker on the describer's server has none."""
    served = dict(preset.roles)
    if served.get("checker") == served.get("describer"):
        served.pop("checker", None)
    return {f"{role.upper()}_URL": server for role, server in served.items()}


def urls(preset: Preset) -> dict[str, str]:
    """Return the URL variable of each served role."""
    return {variable: f"http://vllm-{server}:8000/v1" for variable, server in url_variables(preset).items()}


def cpu_reasoner(preset: Preset) -> dict[str, str]:
    """Return the address and the name of the reasoner that the host's processor runs, {} without one."""
    return (
        {"REASONER_URL": "http://reasoner:8080/v1", "REASONER_MODEL": preset.cpu_reasoner}
        if preset.cpu_reasoner
        else {}
    )


def gpus(preset: Preset) -> dict[str, str]:
    """Return the cards of each model server."""
    return {
        f"{name.upper().replace('-', '_')}_GPUS": ",".join(map(str, server.gpus))
        for name, server in preset.servers.items()
    }


def environment(preset: Preset) -> Mapping[str, str]:
    """Return every variable that the preset sets for compose.

    The index worker of a host with a card has a share of it: one process that transcribes and detects takes no more
    memory than a server that transcribes.
    """
    running = preset.with_index_card()
    chosen = {"MODEL_PRESET": preset.name, "COMPOSE_PROFILES": ",".join(profiles(preset))}
    at_once = {
        "INDEX_SEGMENTS": str(preset.segments_at_once),
        "QUERY_QUESTIONS": str(preset.questions_at_once),
    }
    card = {"INDEX_GPUS": "0"} if preset.gpu_gib else {}
    return {**chosen, **urls(running), **cpu_reasoner(preset), **gpus(running), **card, **at_once}


def rendered(preset: Preset) -> str:
    """Return the text of the preset's environment file."""
    cards = " + ".join(f"{gib:g} GiB" for gib in preset.gpu_gib) or "none"
    lines = [
        f"# {preset.summary}.",
        f"# Usable GPU memory: {cards}. Written from the model table by `make presets`; a file given after it wins.",
        *(f"{name}={value}" for name, value in environment(preset).items()),
    ]
    return "\n".join(lines) + "\n"
