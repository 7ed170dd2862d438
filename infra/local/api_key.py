"""The local tenant's API key: made once, kept in the root folder for everybody who may read the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from infra.local.errors import ServiceFailed

NAME, SLUG = "Local", "local"


def key_file(root: Path) -> Path:
    return root / "api_key"


def ensure_api_key(root: Path, project: Path, env: Mapping[str, str]) -> Path:
    """Return the file with a key of tenant `local`; make tenant and key if it is absent. Raises ServiceFailed."""
    file = key_file(root)
    if file.exists():
        return file
    command = [sys.executable, "manage.py", "create_tenant", "--name", NAME, "--slug", SLUG, "--new-key"]
    done = subprocess.run(command, cwd=project, env=dict(env), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ServiceFailed(f"manage.py create_tenant failed: {done.stderr.strip()[-500:]}")
    key = str(json.loads(done.stdout.strip().splitlines()[-1])["api_key"])
    # Created with its mode before the secret is written.
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        out.write(key)
    return file
