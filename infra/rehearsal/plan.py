"""What a rehearsal starts: the operator's variables, the services of compose.yaml, and their images."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.installation.settings import NUMBERED, PASSWORDS
from infra.rehearsal import cluster, compose, dockerfile, images
from infra.rehearsal.compose import Service
from infra.rehearsal.images import Built

PRESETS = {"embedded": "embedded", "openai": "gpu-24gb", "k8s": "embedded"}
"""The preset that a profile rehearses, unless the operator chooses another."""
PROFILES = tuple(PRESETS)
PUBLIC_URL = "http://127.0.0.1:8000"
REASONER_HOST = "reasoner.example"
"""Name of the machine "elsewhere" whose reasoner the pods of the preset embedded ask."""
REASONER = "smollm2"
"""Its model: small, because a rehearsal looks at the wiring and not at the answer."""
IN_PROCESS = {"TRANSCRIBER_MODEL": "whisper-base", "SIMILARITY_MODEL": "all-minilm-l6-v2"}
"""Models of the workers' own processes in the openai profile. Those of the presets are on the Hub, out of reach."""
MODELS = (*IN_PROCESS, "REASONER_URL", "REASONER_MODEL", "OWN_MODEL_HOSTS")
"""Settings of models in the operator's .env."""


@dataclass(frozen=True)
class Plan:
    """One rehearsal. services: in the order of starting. probes: of pods, by service and name of the probe."""

    profile: str
    preset: str
    folder: Path
    variables: Mapping[str, str]
    services: tuple[Service, ...]
    probes: Mapping[str, Mapping[str, tuple[str, ...]]]

    @property
    def dockerfiles(self) -> dict[Path, Path]:
        """Return the Dockerfiles with the context of each, also of what runs on AWS alone."""
        found = {each.dockerfile: each.context for each in self.services if each.dockerfile and each.context}
        if self.profile == "openai":
            # Index workers have no card there.
            twins = {path.with_name("cpu-worker.Dockerfile"): found[path] for path in found if "gpu" in path.name}
            found |= twins
        return found


def variables(profile: str, preset: str, folder: Path) -> dict[str, str]:
    """Return the operator's .env: random secrets, the same for the folder at each call, and the models."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "secrets.json"
    if not file.exists():
        made = {name: secrets.token_hex(24) for name in PASSWORDS}
        made |= {name: f"1:{secrets.token_hex(24)}" for name in NUMBERED}
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            json.dump(made, out)
    given = dict(json.loads(file.read_text()))
    given |= {"AVA_PUBLIC_URL": PUBLIC_URL, "POSTGRES_SHARED_BUFFERS": "256MB"}
    if preset == "embedded" and profile != "k8s":
        given |= {"REASONER_MODEL": REASONER, "AVA_LLM_THREADS": "1"}
    elif preset == "embedded":
        # The chart has no reasoner of its own: here llama.cpp on another machine.
        given |= {"REASONER_URL": f"http://{REASONER_HOST}:8080/v1", "REASONER_MODEL": REASONER}
        given |= {"OWN_MODEL_HOSTS": REASONER_HOST}
    else:
        given |= IN_PROCESS
    return given


def preset_file(preset: str) -> Path:
    """Return the file of variables of a preset."""
    return compose.PROJECT / "infra" / "presets" / f"{preset}.env"


def make(profile: str, folder: Path, settings: Mapping[str, str]) -> Plan:
    """Return the plan of a profile. Raises ComposeRefused if docker-compose does not accept the file for it.

    settings: variables of the operator's own, which win; MODEL_PRESET among them chooses another preset.
    """
    preset = settings.get("MODEL_PRESET", PRESETS[profile])
    given = variables(profile, preset, folder) | {
        name: value for name, value in settings.items() if name != "MODEL_PRESET"
    }
    file = folder / ".env"
    file.write_text("".join(f"{name}={value}\n" for name, value in given.items()))
    every = compose.services([preset_file(preset), file])
    probes: dict[str, dict[str, tuple[str, ...]]] = {}
    if profile == "k8s":
        plain = {name: value for name, value in given.items() if name in MODELS or name in settings}
        pods = cluster.pods_of(preset, given, plain)
        every, probes = cluster.services(pods, given, every, folder), cluster.probes(pods)
    started = tuple(every[name] for name in compose.start_order(every))
    return Plan(profile, preset, folder, given, started, probes)


def build(plan: Plan, environments: Mapping[str, Path]) -> dict[Path, Built]:
    """Make the images of a plan. environments: virtual environments to use in place of an image's own, by image."""
    built = {}
    for path, context in plan.dockerfiles.items():
        image = dockerfile.read(path)
        built[path] = images.build(image, context, plan.folder / "images", environment=environments.get(image.name))
    return built
