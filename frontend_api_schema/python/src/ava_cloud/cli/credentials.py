"""Where `ava login` keeps the key and the address: a file that only its owner can read. Variables win over it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ava_cloud.errors import AvaError


def path() -> Path:
    """Return the file: AVA_CREDENTIALS, else in the user's folder of settings."""
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return Path(os.environ.get("AVA_CREDENTIALS") or folder / "ava" / "credentials.json")


def save(api_key: str, base_url: str) -> Path:
    """Write the file anew, with rights for its owner alone."""
    file = path()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        json.dump({"api_key": api_key, "base_url": base_url}, out)
    return file


def find() -> tuple[str, str]:
    """Return the key and the address. Raises AvaError if one of them is nowhere."""
    kept: dict[str, str] = json.loads(path().read_text()) if path().is_file() else {}
    key = os.environ.get("AVA_API_KEY") or kept.get("api_key", "")
    url = os.environ.get("AVA_BASE_URL") or kept.get("base_url", "")
    if not key or not url:
        raise AvaError("no key: run `ava login`, or set AVA_API_KEY and AVA_BASE_URL")
    return key, url
