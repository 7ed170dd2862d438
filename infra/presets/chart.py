"""What a preset of the model table means for the pods of the Helm chart, infra/helm/ava."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from gpu_workers.engine.models.model_table import ModelTable, Preset
from infra.presets.environment import EMBEDDERS, url_variables

FOLDER = Path(__file__).resolve().parents[1] / "helm" / "ava" / "presets"
_IMAGE_GIB = 4
"""Memory of a server's process besides its weights, which are loaded through memory."""


def values(preset: Preset, table: ModelTable) -> Mapping[str, Any]:
    """Return what the chart's templates read of a preset.

    after: the server that must answer before another pod of the same card loads, "" for the first one.
    index_with_card: what differs where the index workers have a share of the first card. plays: the servers that then
    do not run.
    """
    with_card = preset.with_index_card()
    first_card = [name for name, server in with_card.servers.items() if 0 in server.gpus]
    index = {
        "image": "cpu-worker",
        "gpu": False,
        "after": "",
        "segments": preset.segments_at_once,
        "held_by": preset.roles.get("describer", ""),
    }
    left_out = set(url_variables(preset).items()) - set(url_variables(with_card).items())
    on_card = {**index, "image": "gpu-worker", "gpu": True, "after": first_card[-1] if first_card else ""}
    return {
        "index": index,
        **({"index_with_card": {"index": on_card, "plays": dict(sorted(left_out))}} if preset.gpu_gib else {}),
        "query": {
            "image": "worker" if set(preset.roles) >= EMBEDDERS else "cpu-worker",
            "questions": preset.questions_at_once,
        },
        "urls": url_variables(preset),
        "servers": {name: _server(name, preset, table) for name in preset.servers},
    }


def _server(name: str, preset: Preset, table: ModelTable) -> dict[str, Any]:
    """Return what the chart reads of a server. shared: whether other pods use its card."""
    server = preset.servers[name]
    model = table.models[server.model]
    neighbours = [other for other, row in preset.servers.items() if set(row.gpus) & set(server.gpus)]
    position = neighbours.index(name)
    return {
        "model": model.name,
        "revision": model.revision,
        "cards": len(server.gpus),
        "shared": len(neighbours) > 1 or 0 in server.gpus,
        "after": neighbours[position - 1] if position else "",
        "sequences": server.sequences,
        "memory_gib": math.ceil(model.weights_gib) + _IMAGE_GIB,
        # Compiled kernels lie next to the weights.
        "storage_gib": math.ceil(1.5 * model.weights_gib) + _IMAGE_GIB,
    }


def rendered(preset: Preset, table: ModelTable) -> str:
    """Return the text of the preset's file."""
    first = f"# {preset.summary}. Written from the model table by `make presets`.\n"
    return first + yaml.safe_dump(dict(values(preset, table)), sort_keys=False, width=120)
