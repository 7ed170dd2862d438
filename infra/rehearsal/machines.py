"""The containers of the AWS machines, as the plan's start scripts run them, with the servers of the rehearsal."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

from infra.local.errors import ServiceFailed
from infra.rehearsal import checks, plan
from infra.rehearsal.containers import Container, Definition
from infra.rehearsal.deployment import default_limit_s, user_of
from infra.rehearsal.dockerfile import HealthCheck
from infra.rehearsal.images import Built
from infra.rehearsal.network import Network
from infra.rehearsal.report import Report
from infra.rehearsal.sandbox import Bind, Sandbox, account_files
from infra.rehearsal.terraform import MachineContainer

_KEYS = frozenset({"S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"})
"""Variables that stand for the rights of a machine's role on the bucket."""
_IN_MEMORY = ("/tmp", "/var/tmp")  # noqa: S108 - inside the sandbox


class Machines:
    """Starts each container of each machine by itself, waits for its health check, and asks its model servers.

    secrets: the value of each secret. extra: variables that stand for what AWS gives without one, such as S3's address.
    """

    def __init__(
        self,
        built: Mapping[str, Built],
        network: Network,
        hosts: Path,
        cache: Path,
        secrets: Mapping[str, str],
        extra: Mapping[str, str],
        folder: Path,
        report: Report,
    ) -> None:
        self._built, self._network, self._hosts, self._cache = built, network, hosts, cache
        self._secrets, self._extra, self._folder, self._report = secrets, extra, folder, report

    def check(self, every: list[MachineContainer]) -> None:
        """Make the checks of all machines."""
        self._names(every)
        served = self._model_servers([each for each in every if each.image == "vllm"])
        for each in every:
            if each.image != "vllm":
                self._start(each, served)

    def _names(self, every: list[MachineContainer]) -> None:
        """Check that workers on one host have Celery node names of their own: the default is the host's name."""
        nodes = defaultdict(list)
        for each in every:
            if each.host_network and each.image.endswith("worker") and each.entrypoint is None:
                nodes[each.group].append(node_name(each.arguments))
        for group, names in nodes.items():
            self._report.check(f"aws.{group}.node_names", len(names) == len(set(names)), ", ".join(names) or "default")

    def _model_servers(self, every: list[MachineContainer]) -> dict[str, str]:
        """Check the launcher's command line of each model server; return the name that each port serves."""
        served = {}
        for each in every:
            container = self._container(each, ("--print",))
            where = f"aws.{each.group}.{each.name}"
            container.log.unlink(missing_ok=True)
            try:
                container.start()
                status = container.wait(120)
            except ServiceFailed as error:
                self._report.check(f"{where}.starts", False, str(error))
                continue
            finally:
                container.stop()
            said = (container.log.read_text(errors="replace").strip() or "nothing").splitlines()[-1]
            if not self._report.check(f"{where}.starts", status == 0, said[-600:]):
                continue
            words = shlex.split(said)
            options = dict(pairwise(words))
            host, port = options.get("--host", ""), options.get("--port", "")
            self._report.check(
                f"{where}.listens", not host.startswith("127.") and host != "localhost", f"{host}:{port}"
            )
            self._report.check(f"{where}.devices", each.gpus, "has the machine's GPUs" if each.gpus else "has no GPU")
            served[port] = options.get("--served-model-name", "")
        return served

    def _start(self, each: MachineContainer, served: Mapping[str, str]) -> None:
        where = f"aws.{each.group}.{each.name}"
        missing = [name for name in (*each.secrets, *each.own_secrets.values()) if name not in self._secrets]
        self._report.check(
            f"{where}.secrets", not missing, f"no value for {', '.join(missing)}" if missing else "all known"
        )
        container = self._container(each)
        self._report.say(f"starting {each.group}.{each.name} of AWS")
        try:
            container.start()
            reason = container.wait_healthy(default_limit_s(container.definition.health_check))
            self._report.check(f"{where}.starts", reason is None, reason or "healthy, as the start script runs it")
            if reason is None and "MODEL_API_KEY" in container.definition.sandbox.environment and served:
                for role, seen in checks.ask(container).items():
                    port = str(seen["url"]).rpartition(":")[2].partition("/")[0]
                    self._report.check(
                        f"{where}.{role}.served",
                        served.get(port) == seen["model"],
                        f"asks port {port} for {seen['model']}, which serves {served.get(port)}",
                    )
        except ServiceFailed as error:
            self._report.check(f"{where}.starts", False, str(error))
        finally:
            container.stop()

    def _container(self, each: MachineContainer, more: tuple[str, ...] = ()) -> Container:
        """Return a container as its machine runs it. more: words after its command."""
        built = self._built[each.image]
        image = built.image
        user = user_of(image.user)
        name = f"aws-{each.group}-{each.name}"
        extra = {variable: value for variable, value in self._extra.items() if each.objects or variable not in _KEYS}
        # What a machine has served, it does not load itself.
        served = {name for name in plan.IN_PROCESS if name.replace("_MODEL", "_URL") in each.environment}
        extra = {variable: value for variable, value in extra.items() if variable not in served}
        environment = {"HOME": image.workdir, **image.final.environment(), **each.environment, **extra}
        named = {secret: secret for secret in each.secrets} | dict(each.own_secrets)
        environment |= {name: self._secrets[secret] for name, secret in named.items() if secret in self._secrets}
        # The stand-ins have no certificates, and all of them run on this host.
        environment["PGSSLMODE"] = "disable"
        urls = [value for variable, value in environment.items() if variable.endswith("_URL") and "://" in value]
        environment["AVA_PLAIN_PEERS"] = ",".join(sorted({urlsplit(url).hostname or "" for url in urls}))
        binds = [*built.binds]
        binds += [Bind(self._cache, target, writable=True) for target in each.volumes]
        writable = [volume for volume in image.volumes if volume not in each.volumes]
        writable += each.tmpfs if each.read_only else _IN_MEMORY
        etc = account_files(self._folder / "etc" / name, user, image.workdir) | {"hosts": self._hosts}
        sandbox = Sandbox(name, user, image.workdir, environment, binds, tuple(writable), etc)
        check = image.health_check
        if each.health is not None:
            test = ("/bin/sh", "-c", each.health)
            check = HealthCheck(test) if check is None else replace(check, test=test)
        whole = (each.entrypoint or image.entrypoint) + (each.arguments or image.command) + more
        return Container(Definition(name, sandbox, whole, check), self._network, self._folder / "log")


def node_name(arguments: Sequence[str]) -> str:
    """Return the node name that a worker's arguments give, "" if they give none."""
    for place, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name in {"--hostname", "-n"}:
            return value if equals else "".join(arguments[place + 1 : place + 2])
    return ""
