"""Where each process of the local stack serves its metrics, and the list of them for a Prometheus on this machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from infra.local import ports
from infra.local.state import State

_PREFIX = "metrics-"


def metrics_env(state: State, name: str) -> dict[str, str]:
    """Return the variables by which a process serves its metrics, with an empty folder for its numbers."""
    folder = state.root / "metrics" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    address = f"127.0.0.1:{ports.claim(state, _PREFIX + name)}"
    targets_file(state.root).write_text(json.dumps(_targets(state), indent=1))
    return {"AVA_METRICS_ADDRESS": address, "PROMETHEUS_MULTIPROC_DIR": str(folder)}


def targets_file(root: Path) -> Path:
    """Return the file that a Prometheus reads by file_sd_configs."""
    return root / "metrics" / "targets.json"


def _targets(state: State) -> list[dict[str, object]]:
    """Return the targets with the label that the alert rules know them by."""
    names = sorted(name for name in state.port_names() if name.startswith(_PREFIX))
    return [
        {"targets": [f"127.0.0.1:{state.port(name)}"], "labels": {"service": name.removeprefix(_PREFIX)}}
        for name in names
    ]
