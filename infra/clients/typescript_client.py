"""The generated part of the TypeScript client: `schema.ts` by openapi-typescript from openapi.yaml."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from infra.clients.running import GenerationFailed, run

PROJECT = Path(__file__).resolve().parents[2]
DOCUMENT = PROJECT / "frontend_api_schema" / "openapi.yaml"
PACKAGE = PROJECT / "frontend_api_schema" / "typescript"
MADE_FROM = "made_from.txt"
"""File next to `schema.ts` with the digest of what it was made from, and its own."""


def generate(package: Path) -> None:
    """Write `src/schema.ts`. Needs npm on the PATH. Raises GenerationFailed."""
    npm = shutil.which("npm")
    if npm is None:
        raise GenerationFailed("npm is not on the PATH; install Node.js 20 or later")
    run(npm, "ci", "--no-audit", "--no-fund", "--prefix", package)
    tool = package / "node_modules" / ".bin" / "openapi-typescript"
    run(tool, DOCUMENT, "--output", package / "src" / "schema.ts")
    (package / MADE_FROM).write_text(state(package))


def state(package: Path) -> str:
    """Return the digests of what `schema.ts` is made from, and of the file as it is."""
    made = package / "src" / "schema.ts"
    source = hashlib.sha256(DOCUMENT.read_bytes() + (package / "package-lock.json").read_bytes()).hexdigest()
    return f"from {source}\nmade {hashlib.sha256(made.read_bytes()).hexdigest()}\n"
