"""Read a Dockerfile: its stages, and what a container of its last stage gets."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class DockerfileError(Exception):
    """A Dockerfile uses something that the rehearsal cannot read."""


@dataclass(frozen=True)
class Instruction:
    """One instruction: FROM, RUN, COPY, …, and the rest of its line with continuations joined."""

    word: str
    rest: str


@dataclass(frozen=True)
class Copy:
    """One COPY. stage: the stage or image that the files come from; None means the build context."""

    sources: tuple[str, ...]
    target: str
    stage: str | None


@dataclass(frozen=True)
class HealthCheck:
    """A health check. test: the command with arguments; start_s: seconds in which a failure does not count."""

    test: tuple[str, ...]
    interval_s: float = 30.0
    timeout_s: float = 30.0
    start_s: float = 0.0


@dataclass(frozen=True)
class Stage:
    """One stage with the instructions of all stages that it is built on, in order. base: the image below them all."""

    name: str
    base: str
    instructions: tuple[Instruction, ...]

    def copies(self) -> tuple[Copy, ...]:
        """Return the stage's COPY instructions."""
        return tuple(_copy(each.rest) for each in self.instructions if each.word == "COPY")

    def runs(self) -> tuple[str, ...]:
        """Return the shell text of the stage's RUN instructions."""
        return tuple(each.rest for each in self.instructions if each.word == "RUN")

    def packages(self) -> frozenset[str]:
        """Return the packages that the stage installs with apt-get."""
        found: set[str] = set()
        for run in self.runs():
            for command in re.split(r"&&|;", run):
                words = command.split()
                if "apt-get" in words and "install" in words:
                    found |= {word for word in words[words.index("install") + 1 :] if not word.startswith("-")}
        return frozenset(found)

    def last(self, word: str) -> str | None:
        """Return the rest of the last instruction of a kind."""
        return next((each.rest for each in reversed(self.instructions) if each.word == word), None)

    def environment(self) -> dict[str, str]:
        """Return the variables of the stage's ENV instructions, with references to earlier ones resolved."""
        variables = {"PATH": _PATH}
        for each in self.instructions:
            if each.word == "ENV":
                for pair in shlex.split(each.rest):
                    name, _, value = pair.partition("=")
                    variables[name] = re.sub(r"\$\{?(\w+)\}?", lambda match: variables.get(match[1], ""), value)
        return variables


@dataclass(frozen=True)
class Image:
    """What a container of a Dockerfile's last stage gets. stages: all stages by name."""

    path: Path
    final: Stage
    stages: dict[str, Stage] = field(repr=False)

    @property
    def name(self) -> str:
        """Return the file's name without the ending: `gpu-worker` for gpu-worker.Dockerfile."""
        return self.path.name.removesuffix(".Dockerfile")

    @property
    def workdir(self) -> str:
        """Return the folder in which commands start."""
        return self.final.last("WORKDIR") or "/"

    @property
    def user(self) -> str:
        """Return the user as the Dockerfile writes it."""
        return self.final.last("USER") or "0:0"

    @property
    def volumes(self) -> tuple[str, ...]:
        """Return the folders of VOLUME instructions."""
        rests = [each.rest for each in self.final.instructions if each.word == "VOLUME"]
        return tuple(
            folder for rest in rests for folder in (json.loads(rest) if rest.startswith("[") else rest.split())
        )

    @property
    def entrypoint(self) -> tuple[str, ...]:
        """Return ENTRYPOINT's words."""
        return _words(self.final.last("ENTRYPOINT"))

    @property
    def command(self) -> tuple[str, ...]:
        """Return CMD's words."""
        return _words(self.final.last("CMD"))

    @property
    def health_check(self) -> HealthCheck | None:
        """Return HEALTHCHECK, or None if there is none."""
        rest = self.final.last("HEALTHCHECK")
        if rest is None or rest.strip() == "NONE":
            return None
        options, _, command = rest.partition("CMD ")
        seconds = {
            match[1]: duration(match[2])
            for match in re.finditer(r"--([a-z-]+)=(\S+)", options)
            if match[1] != "retries"
        }
        return HealthCheck(
            _words(command),
            seconds.get("interval", 30.0),
            seconds.get("timeout", 30.0),
            seconds.get("start-period", 0.0),
        )


def read(path: Path) -> Image:
    """Return the image that a Dockerfile describes. Raises DockerfileError."""
    stages: dict[str, Stage] = {}
    last: Stage | None = None
    for instruction in instructions(path.read_text()):
        if instruction.word == "FROM":
            base, _, name = re.sub(r"--platform=\S+\s+", "", instruction.rest).partition(" AS ")
            below = stages.get(base.strip())
            last = Stage(
                name.strip() or str(len(stages)),
                below.base if below else base.strip(),
                below.instructions if below else (),
            )
        elif last is None:
            if instruction.word != "ARG":
                raise DockerfileError(f"{path.name}: {instruction.word} before FROM")
            continue
        else:
            last = Stage(last.name, last.base, (*last.instructions, instruction))
        stages[last.name] = last
    if last is None:
        raise DockerfileError(f"{path.name} has no FROM")
    return Image(path, last, stages)


def instructions(text: str) -> list[Instruction]:
    """Return the instructions of a Dockerfile, continuations joined, comments and empty lines dropped."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n", " ", "\n".join(lines))
    found = []
    for line in joined.splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            found.append(Instruction(word.upper(), rest.strip()))
    return found


def duration(text: str) -> float:
    """Return seconds of a duration such as 30m or 1m30s."""
    parts = _DURATION.findall(text)
    if not parts:
        raise DockerfileError(f"{text!r} is not a duration")
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def _copy(rest: str) -> Copy:
    words = shlex.split(rest)
    stage = next((word.removeprefix("--from=") for word in words if word.startswith("--from=")), None)
    paths = [word for word in words if not word.startswith("--")]
    return Copy(tuple(paths[:-1]), paths[-1], stage)


def _words(rest: str | None) -> tuple[str, ...]:
    """Return the words of an exec form, or the shell's words for a shell form."""
    if not rest:
        return ()
    return tuple(json.loads(rest)) if rest.lstrip().startswith("[") else ("/bin/sh", "-c", rest)
