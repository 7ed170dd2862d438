"""What a rehearsal starts: the operator's variables, the services of compose.yaml, the images that they are made from."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.rehearsal import compose, dockerfile, images
from infra.rehearsal.compose import Service
from infra.rehearsal.images import Built

PROFILES = ("embedded", "openai")
PUBLIC_URL = "http://127.0.0.1:8000"
REASONER_HOST = "reasoner.example"
"""Name of the machine "elsewhere" whose reasoner the embedded profile asks."""
_SECRETS = (
    "APP_RW_PASSWORD", "APP_DISPATCH_PASSWORD", "APP_OWNER_PASSWORD", "APP_ADMIN_RO_PASSWORD", "POSTGRES_PASSWORD",
    "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY", "AVA_SECRET_KEY",
)  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """One rehearsal. services: as docker-compose resolves them, in the order of starting. built: by Dockerfile."""

    profile: str
    folder: Path
    variables: Mapping[str, str]
    services: tuple[Service, ...]

    @property
    def dockerfiles(self) -> dict[Path, Path]:
        """Return the Dockerfiles with the context of each."""
        return {each.dockerfile: each.context for each in self.services if each.dockerfile and each.context}


def variables(profile: str, folder: Path) -> dict[str, str]:
    """Return the operator's .env for a profile: random secrets that stay the same for the folder, and the models."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "secrets.json"
    if not file.exists():
        made = {name: secrets.token_hex(24) for name in _SECRETS}
        made |= {name: f"1:{secrets.token_hex(24)}" for name in ("AVA_KEY_PEPPERS", "AVA_ENCRYPTION_KEYS")}
        made |= {"MODEL_API_KEY": secrets.token_hex(24)}
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            json.dump(made, out)
    given = dict(json.loads(file.read_text()))
    given["AVA_PUBLIC_URL"] = PUBLIC_URL
    return given | models(profile, given["MODEL_API_KEY"])


def models(profile: str, key: str) -> dict[str, str]:
    """Return the variables that choose the models."""
    if profile == "embedded":
        return {
            "MODEL_PROFILE": "embedded",
            "REASONER_URL": f"http://{REASONER_HOST}:8080/v1",
            "REASONER_MODEL": "smollm2",
            "REASONER_API_KEY": key,
        }
    return {
        "MODEL_PROFILE": "openai",
        "REASONER_URL": "http://vllm-llm:8000/v1",
        "REASONER_MODEL": "Qwen/Qwen2.5-32B-Instruct",
        "REASONER_API_KEY": key,
        "DESCRIBER_URL": "http://vllm-vlm:8000/v1",
        "DESCRIBER_MODEL": "Qwen/Qwen2.5-VL-7B-Instruct",
        "DESCRIBER_API_KEY": key,
    }


def make(profile: str, folder: Path, settings: Mapping[str, str]) -> Plan:
    """Return the plan of a profile. Raises ComposeRefused if docker-compose does not accept the file for it.

    settings: variables of the operator's own, which win.
    """
    given = variables(profile, folder) | dict(settings)
    profiles = ["gpu"] if profile == "openai" else []
    every = compose.services(given, profiles=profiles)
    return Plan(profile, folder, given, tuple(every[name] for name in compose.start_order(every)))


def build(plan: Plan, environments: Mapping[str, Path]) -> dict[Path, Built]:
    """Make the images of a plan. environments: virtual environments to use in place of an image's own, by image."""
    built = {}
    for path, context in plan.dockerfiles.items():
        image = dockerfile.read(path)
        built[path] = images.build(image, context, plan.folder / "images", environment=environments.get(image.name))
    return built
