"""docker compose for one installation: its files, its version, and the version before."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gpu_workers.engine.models.model_table import Preset
from infra.installation import settings
from infra.release.version import PROJECT, VERSION

INFRA = PROJECT / "infra"
COMPOSE, PRESET = "compose.yaml", "preset.env"


class InstallFailed(Exception):
    """A step failed; the message says which and what to do."""


def command_line(preset: str, env_file: Path, *arguments: str, files: Path | None = None) -> list[str]:
    """Return the command line of docker compose. files: folder of another version's files, by default this one's."""
    file, values = INFRA / COMPOSE, INFRA / "presets" / f"{preset}.env"
    if files is not None:
        file, values = files / COMPOSE, files / PRESET
    named = ["--project-directory", str(INFRA), "--file", str(file), "--env-file", str(values)]
    return ["docker", "compose", *named, "--env-file", str(env_file), *arguments]


def fetches(preset: Preset) -> list[tuple[str, ...]]:
    """Return the arguments of docker compose that fetch the weights of a preset, one call for each server."""
    run = ("run", "--rm", "--no-deps")
    found: list[tuple[str, ...]] = [(*run, f"vllm-{name}", "--server", name, "--fetch") for name in preset.servers]
    if preset.cpu_reasoner:
        found.append((*run, "reasoner", f"--model={preset.cpu_reasoner}", "--port=8080", "--fetch"))
    return found


@dataclass(frozen=True, slots=True)
class Installation:
    """The installation that an environment file describes."""

    env_file: Path

    @property
    def values(self) -> dict[str, str]:
        return settings.read(self.env_file)

    @property
    def preset(self) -> str:
        preset = self.values.get("MODEL_PRESET")
        if not preset:
            raise InstallFailed(f"{self.env_file} has no MODEL_PRESET: run infra/install first")
        return preset

    @property
    def version(self) -> str:
        """The version that runs; that of this folder until something was installed."""
        return self.values.get("AVA_VERSION") or VERSION

    @property
    def former(self) -> str:
        """The version that ran before the last upgrade, "" if there was none."""
        return self.values.get("AVA_FORMER_VERSION", "")

    def kept(self, version: str) -> Path:
        """Return the folder with the compose file and the preset of a version that was started here."""
        return self.env_file.parent / ".ava-releases" / version

    @property
    def offline(self) -> bool:
        """Whether images and weights are brought to this host, and nothing is built or fetched."""
        return settings.OFFLINE.items() <= self.values.items()

    def get_images(self, version: str) -> None:
        """Build the images of a version, or fetch them where a registry has them; nothing if they are brought."""
        if not self.offline:
            self.run("pull" if self.values.get("AVA_REGISTRY") else "build", version=version)

    def compose(self, *arguments: str, version: str = "") -> list[str]:
        """Return the command line of docker compose for a version, by default the one that runs.

        Another version than that of this folder starts from the files that were kept when it was started.
        """
        version = version or self.version
        files = None if version == VERSION else self.kept(version)
        if files is not None and not files.exists():
            raise InstallFailed(
                f"version {version} was never started from this folder, which holds {VERSION}: check out v{version}"
            )
        return command_line(self.preset, self.env_file, *arguments, files=files)

    def run(self, *arguments: str, version: str = "", env: Mapping[str, str] | None = None) -> None:
        """Run docker compose for a version, whose output is shown. Raises InstallFailed."""
        command = self.compose(*arguments, version=version)
        done = subprocess.run(command, cwd=PROJECT, env=self._environment(version, env), check=False)
        if done.returncode != 0:
            raise InstallFailed(f"{shlex.join(command)} failed; the lines above say why")

    def output(self, *arguments: str) -> str:
        """Return what docker compose prints for the version that runs, with its errors; it may fail."""
        done = subprocess.run(
            self.compose(*arguments),
            cwd=PROJECT,
            env=self._environment("", None),
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        return done.stdout

    def _environment(self, version: str, more: Mapping[str, str] | None) -> dict[str, str]:
        # The environment wins over the files: a version is tried before .env names it.
        return {**os.environ, "AVA_VERSION": version or self.version, **(more or {})}

    def keep_files(self) -> None:
        """Keep what started the version of this folder, for the time when the folder has a newer version."""
        folder = self.kept(VERSION)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(INFRA / COMPOSE, folder / COMPOSE)
        shutil.copy(INFRA / "presets" / f"{self.preset}.env", folder / PRESET)
        digests = {name: value for name, value in self.values.items() if name.startswith("AVA_DIGEST_")}
        (folder / "digests.env").write_text("".join(f"{name}={value}\n" for name, value in digests.items()))

    def kept_digests(self, version: str) -> dict[str, str]:
        """Return the digests that .env must have for a version: those it had then, and none for other images."""
        now = {name: "" for name in self.values if name.startswith("AVA_DIGEST_")}
        return {**now, **settings.read(self.kept(version) / "digests.env")}
