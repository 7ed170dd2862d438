"""The services of a plan as containers of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from infra.rehearsal import substitutes
from infra.rehearsal.compose import Service, replicas
from infra.rehearsal.containers import Definition, hosts_file
from infra.rehearsal.dockerfile import HealthCheck
from infra.rehearsal.images import Built
from infra.rehearsal.network import Network
from infra.rehearsal.plan import Plan
from infra.rehearsal.sandbox import Bind, Sandbox, account_files
from infra.vllm.environment import python as interpreter

_SHARED_MEMORY = ("/tmp", "/var/tmp")  # noqa: S108 - inside the sandbox
# A tiny model is loaded in less than a minute on a quiet machine, and in ten times that on a busy one.
_LONGEST_START_S = 1_500.0
# What each container needs of this machine's network to fetch from a package index.
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


class Deployment:
    """Turns services into definitions of containers. notes: what differs from a real engine, in words."""

    def __init__(
        self,
        plan: Plan,
        built: Mapping[Path, Built],
        network: Network,
        elsewhere: Mapping[str, str],
        machine: Mapping[str, str],
    ) -> None:
        """elsewhere: addresses of hosts outside the deployment. machine: variables of this machine's network."""
        self._plan, self._built, self._machine = plan, built, machine
        self.notes: list[str] = []
        addresses = {
            network.address(name): [name, *([] if name == each.name else [each.name]), *each.aliases]
            for each in plan.services
            for name in replicas(each)
        }
        for host, address in elsewhere.items():
            addresses.setdefault(address, []).append(host)
        self.hosts = hosts_file(plan.folder / "hosts", addresses)

    def volume(self, name: str) -> Path:
        """Return the folder of a named volume."""
        folder = self._plan.folder / "volumes" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def definitions(self, service: Service) -> list[Definition]:
        """Return the containers of a service, one for each replica."""
        return [self._definition(replace(service, name=name)) for name in replicas(service)]

    def _definition(self, service: Service) -> Definition:
        if service.dockerfile is None:
            return self._outside(service)
        built = self._built[service.dockerfile]
        image = built.image
        user = user_of(service.user or image.user)
        environment = {"HOME": image.workdir, **image.final.environment(), **service.environment}
        environment |= {name: self._machine[name] for name in _CERTIFICATES if name in self._machine}
        binds = [*built.binds]
        entrypoint, words = _command(service, image.entrypoint, image.command)
        if image.name == "postgres":
            scripts = [bind.source for bind in binds if bind.target.endswith("-entrypoint")]
            stand_in = substitutes.postgres(scripts, self._plan.folder / "substitutes")
            binds = [bind for bind in binds if bind.source not in scripts] + list(stand_in.binds)
            environment |= stand_in.environment
            self._note(stand_in.note)
        if image.name == "vllm" and "--server" in words:
            stand_in = substitutes.model_server(words[words.index("--server") + 1], interpreter())
            binds += stand_in.binds
            environment |= stand_in.environment
            words = (*words, *stand_in.arguments)
            self._note(stand_in.note)
        if environment.get("PGSSLMODE") == "require":
            environment["PGSSLMODE"] = "disable"
        binds += self._mounts(service, image.volumes)
        return Definition(
            service.name,
            self._sandbox(service, user, image.workdir, environment, binds, image.volumes),
            (*entrypoint, *words),
            service.health_check or image.health_check,
            service.grace_s,
        )

    def _outside(self, service: Service) -> Definition:
        stand_in = substitutes.for_outside_image(service.image, self._plan.folder / "substitutes")
        self._note(stand_in.note)
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", **stand_in.environment, **service.environment}
        entrypoint, words = _command(service, stand_in.entrypoint, stand_in.command)
        user = user_of(service.user) if service.user else stand_in.user
        sandbox = self._sandbox(
            service, user, stand_in.workdir, environment, [*stand_in.binds, *self._mounts(service, ())], ()
        )
        words = (*words, *stand_in.arguments)
        return Definition(service.name, sandbox, (*entrypoint, *words), service.health_check, service.grace_s)

    def _sandbox(
        self,
        service: Service,
        user: tuple[int, int],
        workdir: str,
        environment: Mapping[str, str],
        binds: list[Bind],
        volumes: tuple[str, ...],
    ) -> Sandbox:
        folder = self._plan.folder / "etc" / service.name
        etc = account_files(folder, user, workdir) | {"hosts": self.hosts}
        shown = {bind.target for bind in binds}
        # A VOLUME that nothing is mounted on is an anonymous volume: writable, and gone with the container.
        writable = [volume for volume in volumes if volume not in shown]
        writable += service.tmpfs if service.read_only else [*_SHARED_MEMORY, *service.tmpfs]
        return Sandbox(service.name, user, workdir, environment, binds, tuple(dict.fromkeys(writable)), etc)

    def _mounts(self, service: Service, volumes: tuple[str, ...]) -> list[Bind]:
        return [
            Bind(self.volume(mount.source) if mount.named else Path(mount.source), mount.target, not mount.read_only)
            for mount in service.mounts
        ]

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def _command(
    service: Service, entrypoint: tuple[str, ...], command: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return entry point and command as an engine combines image and service."""
    if service.entrypoint is not None:
        # An entry point of the service's own clears the image's command.
        return service.entrypoint, service.command or ()
    return entrypoint, command if service.command is None else service.command


def user_of(text: str) -> tuple[int, int]:
    """Return uid and gid of a Dockerfile's or a service's user."""
    uid, _, gid = text.partition(":")
    return int(uid), int(gid or uid)


def default_limit_s(check: HealthCheck | None) -> float:
    """Return how long a service may take until its health check holds: here, on a busy machine, at least a minute."""
    return 60.0 if check is None else min(_LONGEST_START_S, max(60.0, check.start_s * 2 + 3 * check.interval_s))
