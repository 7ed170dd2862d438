"""Golden digests of what the engine sends: a digest each, stored one a line; the bodies are written on demand.

A test gives its file of digests and the canonical bodies by name. Three things can then be done with it, where TEST is
the test's file:
- Check: `.venv/bin/python -m pytest TEST`.
- Compare, if a digest has changed: write the bodies of both commits to .local/bodies, and diff them.
      git stash; AVA_BODIES=before .venv/bin/python -m pytest TEST; git stash pop
      AVA_BODIES=after .venv/bin/python -m pytest TEST; diff -ru .local/bodies/before .local/bodies/after
- Record, if the change is meant: `AVA_RECORD=1 .venv/bin/python -m pytest TEST`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
BODIES = ROOT / ".local" / "bodies"


def digest_of(body: Any) -> str:
    """Return the SHA-256 of a body's canonical JSON."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def recorded(file: Path) -> dict[str, str]:
    """Return the digests that a file holds, by name; none if there is no file."""
    found: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
    return found


def differences(file: Path, bodies: Mapping[str, Any], *, of: str) -> list[str]:
    """Return a line for each body that differs from the recorded digest, is not recorded, or is no longer sent.

    of: the start of the names that these bodies answer for. AVA_BODIES writes the bodies; AVA_RECORD records digests.
    """
    write_bodies(file.stem, bodies)
    now = {name: digest_of(body) for name, body in bodies.items()}
    before = {name: digest for name, digest in recorded(file).items() if name.startswith(of)}
    if os.environ.get("AVA_RECORD"):
        record(file, now, gone=before)
        return []
    kinds = {name: "new" if name not in before else "no longer sent" if name not in now else "changed"
             for name in sorted(now.keys() | before.keys()) if now.get(name) != before.get(name)}  # fmt: skip
    return [f"{name}: {kind}" for name, kind in kinds.items()]


def record(file: Path, digests: Mapping[str, str], *, gone: Mapping[str, str] | None = None) -> None:
    """Write digests into a file, in place of those that are gone."""
    kept = {name: digest for name, digest in recorded(file).items() if name not in (gone or {})}
    file.write_text(json.dumps(kept | dict(digests), indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def write_bodies(test: str, bodies: Mapping[str, Any]) -> None:
    """Write bodies to .local/bodies/$AVA_BODIES, a file each, if the variable is set."""
    label = os.environ.get("AVA_BODIES")
    for name, body in bodies.items() if label else ():
        path = BODIES / str(label) / test / f"{re.sub(r'[^A-Za-z0-9]+', '-', name)}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False).replace("\\n", "\n") + "\n")


def how_to_compare(test: str) -> str:
    """Return what to do about a changed digest: how to see the bodies of both commits, and how to record the new one.

    test: `__file__` of the test.
    """
    run = f".venv/bin/python -m pytest {Path(test).relative_to(ROOT)}"
    return (
        f"See what changed:\n  git stash; AVA_BODIES=before {run}; git stash pop\n"
        f"  AVA_BODIES=after {run}; diff -ru .local/bodies/before .local/bodies/after\n"
        f"If it is meant: AVA_RECORD=1 {run}"
    )
