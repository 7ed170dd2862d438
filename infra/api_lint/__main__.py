"""``python -m infra.api_lint`` lints the OpenAPI document by every recommended rule of Redocly.

The tool is installed in .local/api-lint, with the version below. Node.js with npm must be on the PATH. What generators
make of the document is checked by the clients (infra.clients, tests/clients).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[2]
_CONFIG = Path(__file__).resolve().with_name("redocly.yaml")
DOCUMENT = _PROJECT / "frontend_api_schema" / "openapi.yaml"
TOOLS = _PROJECT / ".local" / "api-lint"
PACKAGE = "@redocly/cli@2.77.0"


def main() -> int:
    """Install the tool if it is missing, and lint. Returns the exit status."""
    npm = shutil.which("npm")
    if npm is None:
        print("lint-api: ERROR npm is not on the PATH; install Node.js 20.19 or later", file=sys.stderr)
        return 1
    marker = TOOLS / "installed.txt"
    if not marker.is_file() or marker.read_text() != PACKAGE:
        shutil.rmtree(TOOLS, ignore_errors=True)
        TOOLS.mkdir(parents=True)
        print("lint-api: installing the tool in .local/api-lint", flush=True)
        quiet = ("--no-audit", "--no-fund", "--no-package-lock")
        subprocess.run([npm, "install", *quiet, "--prefix", TOOLS, PACKAGE], check=True)
        marker.write_text(PACKAGE)
    redocly = TOOLS / "node_modules" / ".bin" / "redocly"
    return subprocess.run([redocly, "lint", "--config", _CONFIG, DOCUMENT], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
