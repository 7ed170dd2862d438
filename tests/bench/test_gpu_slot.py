"""The script for a lent card: it says what became of each step, stops at none, and ends in ten minutes."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "bench" / "gpu_slot.sh"
PROGRAMS = {
    "nvidia-smi": "echo 1000",
    "setpriv": 'while [ "$1" != env ]; do shift; done; exec "$@"',
    "python": """case "$*" in
    *flashinfer*) echo "ModuleNotFoundError: No module named 'flashinfer'" >&2; exit 1 ;;
    *"tower.py 4096"*) echo 'out of "memory"'; exit 1 ;;
    *zeros*) exec sleep 60 ;;
    *deberta*) echo '{"name": "deberta_an_hour", "value": 0.03}' ;;
esac""",
}
"""What stands in for a machine with a card, without flashinfer and with too little memory for one picture."""


def test_each_step_is_reported_and_none_stops_the_others(tmp_path: Path) -> None:
    for name, lines in PROGRAMS.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/bash\n{lines}\n")
        program.chmod(0o755)
    env = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "PYTHON": str(tmp_path / "bin" / "python"),
        "SETTLE_S": "0",
    }

    done = subprocess.run(["bash", str(SCRIPT), str(tmp_path / "out")], env=env, capture_output=True, text=True)

    steps = [json.loads(line) for line in done.stdout.splitlines()]
    found = {step["name"]: step["status"] for step in steps}
    assert done.returncode == 0, done.stderr
    assert list(found) == re.findall(r"^step (\w+)", SCRIPT.read_text(), flags=re.M)
    assert {name: status for name, status in found.items() if status != "ok"} == {
        "flashinfer": "not run", "tower_4096": "failed",
    }  # fmt: skip
    said = {step["name"]: step["last"] for step in steps}
    assert said["tower_4096"] == 'out of "memory"'
    assert json.loads(said["deberta"])["value"] == 0.03
    assert json.loads(said["contexts_5"]) == {"contexts": 5, "mib": 0}
    assert (tmp_path / "out" / "steps.jsonl").read_text() == done.stdout


def test_all_limits_together_are_less_than_ten_minutes() -> None:
    text = SCRIPT.read_text()
    limits = [int(limit) + 2 for limit in re.findall(r"^step \w+ (\d+)", text, flags=re.M)]
    assert sum(limits) <= 590
    assert f"are {sum(limits)} s." in text
