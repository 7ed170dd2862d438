"""The operator's .env: secrets are made once and never changed, values that exist are never overwritten."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from gpu_workers.engine.models.model_table import Preset
from infra.presets.environment import profiles
from infra.release.version import VERSION

PASSWORDS = (
    "POSTGRES_PASSWORD",
    "APP_RW_PASSWORD",
    "APP_DISPATCH_PASSWORD",
    "APP_OWNER_PASSWORD",
    "APP_ADMIN_RO_PASSWORD",
    "APP_PEOPLE_PASSWORD",
    "APP_CONSOLE_PASSWORD",
    "APP_REPLICATION_PASSWORD",
    "APP_METRICS_PASSWORD",
    "VALKEY_PASSWORD",
    "S3_ACCESS_KEY_ID",
    "S3_SECRET_ACCESS_KEY",
    "AVA_SECRET_KEY",
    "AVA_CONSOLE_SECRET_KEY",
    "AVA_CACHE_SALT_KEY",
    "AVA_SIGNER_KEY_PROBE",
    "AVA_SIGNER_KEY_RENDER",
    "AVA_SIGNER_KEY_FETCH",
    "AVA_SIGNER_KEY_INDEX",
    "AVA_SIGNER_KEY_QUERY",
    "MODEL_API_KEY",
    "AVA_CONSOLE_PASSWORD",
    "GRAFANA_PASSWORD",
)
NUMBERED = ("AVA_KEY_PEPPERS", "AVA_ENCRYPTION_KEYS")
HOSTED = ("REASONER_URL", "REASONER_MODEL", "REASONER_API_KEY", "DESCRIBER_URL", "DESCRIBER_MODEL", "DESCRIBER_API_KEY")

OFFLINE = {"HF_HUB_OFFLINE": "1", "PIP_NO_INDEX": "1"}
"""What keeps workers and model servers from looking for weights outside; they use those in their volumes."""


def read(path: Path) -> dict[str, str]:
    """Return the values of an environment file, {} if there is none."""
    if not path.exists():
        return {}
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#") and "=" in line)
    return {name.strip(): value.strip().strip("'\"") for name, _, value in pairs}


def wanted(preset: Preset, domain: str) -> dict[str, str]:
    """Return every value that an installation needs, with new secrets. domain: "" for this machine only."""
    values = {name: secrets.token_hex(24) for name in PASSWORDS}
    values |= {name: f"1:{secrets.token_hex(24)}" for name in NUMBERED}
    values["MODEL_PRESET"] = preset.name
    values["AVA_VERSION"] = VERSION
    if not domain:
        return {**values, "AVA_PUBLIC_URL": "http://127.0.0.1:8000"}
    return {
        **values,
        "AVA_PUBLIC_URL": f"https://{domain}",
        "AVA_ALLOWED_HOSTS": f"{domain},127.0.0.1",
        "AVA_DOMAIN": domain,
        "S3_DOMAIN": f"s3.{domain}",
        "S3_ENDPOINT_URL": f"https://s3.{domain}",
        "COMPOSE_PROFILES": ",".join([*profiles(preset), "public"]),
    }


def missing(path: Path, values: Mapping[str, str]) -> dict[str, str]:
    """Return the values that an environment file does not have yet."""
    existing = read(path)
    return {name: value for name, value in values.items() if name not in existing}


def add(path: Path, values: Mapping[str, str]) -> None:
    """Append values to an environment file that only its owner may read; make the file if there is none."""
    if not values:
        return
    text = "".join(f"{name}={value}\n" for name, value in values.items())
    # The mode holds from the first byte on; an existing file keeps its content.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
            file.write("\n")
        file.write(text)


def change(path: Path, values: Mapping[str, str]) -> None:
    """Set values of an environment file, each in its own line; all other lines stay. The file is replaced at once."""
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line.partition("=")[0].strip() not in values]
    new = path.with_name(f"{path.name}.new")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in [*kept, *(f"{name}={value}" for name, value in values.items())])
    new.replace(path)


def without_models(preset: Preset, values: Mapping[str, str]) -> list[str]:
    """Return the variables that a preset needs from the operator, because its models run elsewhere."""
    if preset.name == "hosted":
        return [name for name in HOSTED if not values.get(name)]
    return []
