"""docs/configuration.md says what the table says."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_workers.engine.models.model_table import Model, Preset, table

PAGE = (Path(__file__).parents[3] / "docs" / "configuration.md").read_text(encoding="utf-8")
MODELS, PRESETS = table().models, table().presets


def model_row(model: Model) -> str:
    """Return the row of a model in the page."""
    revision = f"`{model.revision[:12]}`" if model.revision else "by SHA-256"
    window = f"{model.window:,}" if model.window else ""
    roles = ", ".join(role.replace("_", " ") for role in model.role_kinds)
    return f"| `{model.name}` | {roles} | {model.licence} | {revision} | {model.weights_gib:g} | {window} |"


def preset_rows(one: Preset) -> list[str]:
    """Return the rows of a preset's servers in the page."""
    rows = []
    for server in one.servers.values():
        roles = ", ".join(role.replace("_", " ") for role, name in one.roles.items() if name == server.name)
        cards = ", ".join(str(card) for card in server.gpus)
        share = f"{server.memory_share:g} of {one.gpu_gib[server.gpu]:g}"
        rows.append(
            f"| `{one.name}` | `{server.name}` | `{server.model}` | {roles} | {cards} | {share} | "
            f"{server.context_tokens:,} |"
        )
    return rows


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_every_model_has_its_row(model: Model) -> None:
    assert model_row(model) in PAGE.splitlines()


@pytest.mark.parametrize("one", PRESETS.values(), ids=PRESETS)
def test_every_preset_is_described_with_its_servers(one: Preset) -> None:
    assert f"| `{one.name}` | {one.summary} |" in PAGE
    assert [line for line in PAGE.splitlines() if line.startswith(f"| `{one.name}` | `")] == preset_rows(one)
