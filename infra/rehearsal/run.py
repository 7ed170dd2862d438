"""The rehearsal itself, inside its namespaces: start everything, check it, index a video, ask a question."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from gpu_workers.engine.models import weights
from gpu_workers.engine.models.model_table import preset
from infra.local import ffmpeg
from infra.local.default_video import default_video
from infra.local.errors import ServiceFailed
from infra.local.leaving import unwind_on_signals
from infra.local.llama import Llama
from infra.local.server import StackHome
from infra.local.state import State
from infra.rehearsal import checks, dockerfile, images, machines, plan, terraform
from infra.rehearsal.compose import ComposeRefused, Service, replicas
from infra.rehearsal.containers import Container
from infra.rehearsal.customer import Customer
from infra.rehearsal.deployment import Deployment, default_limit_s
from infra.rehearsal.images import Built
from infra.rehearsal.network import GATEWAY, Network, Relay, listen, use_hosts
from infra.rehearsal.plan import Plan
from infra.rehearsal.report import Report
from infra.vllm import environment

_ONE_SHOT_S = 180.0
_PACKAGE_INDEX = ("pypi.org", "files.pythonhosted.org")
# Left out of the cache that containers start with, so that one weight is fetched by the image's own means.
_FETCHED = "ssd-mobilenet-v2"
_VIDEO_S = 12
_SIGNER_PORT = 8400


def environments(planned: Plan) -> dict[str, Path]:
    """Return the virtual environments that stand for those of images for CUDA, by image; make the tiny models."""
    named = {path.name.removesuffix(".Dockerfile"): (path, context) for path, context in planned.dockerfiles.items()}
    found = {}
    if "vllm" in named:
        interpreter = environment.python()
        found["vllm"] = interpreter.parents[1]
        for server in preset(planned.preset).servers:
            environment.model_of(server, interpreter)
    if "gpu-worker" in named:
        path, context = named["gpu-worker"]
        twin = dockerfile.read(path.with_name("cpu-worker.Dockerfile"))
        found["gpu-worker"], _ = images.install(twin, twin.stages["build"], context)
    return found


class Rehearsal:
    """One run. Everything that it starts ends with run()."""

    def __init__(self, profile: str, folder: Path, settings: Mapping[str, str], report: Report) -> None:
        """settings: variables of the operator's own."""
        self._profile, self._folder, self._settings, self._report = profile, folder, settings, report
        self._containers: dict[str, Container] = {}
        self._addresses = 0
        self._seeded: Path | None = None
        self._offline = False

    def run(self) -> int:
        """Make all checks and return 0 if every one holds, else 1."""
        unwind_on_signals()
        with ExitStack() as running:
            running.callback(self._stop)
            self._rehearse(running)
        self._report.say(f"{self._report.made} checks, {len(self._report.failed)} do not hold")
        return 1 if self._report.failed else 0

    def _rehearse(self, running: ExitStack) -> None:
        report = self._report
        try:
            planned = plan.make(self._profile, self._folder, self._settings)
        except ComposeRefused as error:
            report.check("compose.accepts", False, str(error))
            return
        read = "chart.renders" if self._profile == "k8s" else "compose.accepts"
        report.check(read, True, f"{len(planned.services)} services for {self._profile}")
        checks.images(planned, report)
        built = plan.build(planned, environments(planned))
        for each in built.values():
            for note in each.notes:
                report.substitution(note)
        network = Network()
        # An installation without an index reaches none.
        self._offline = "PIP_NO_INDEX" in planned.variables
        elsewhere = {} if self._offline else {host: self._outlet(host) for host in _PACKAGE_INDEX}
        elsewhere |= running.enter_context(self._reasoner(planned))
        deployment = Deployment(planned, built, network, elsewhere, os.environ)
        logs = self._folder / "log"
        logs.mkdir(exist_ok=True)
        self._seed(deployment, planned)
        definitions = [each for service in planned.services for each in deployment.definitions(service)]
        for note in deployment.notes:
            report.substitution(note)
        for name in (*plan.IN_PROCESS, "AVA_TRACKS"):
            if name in planned.variables:
                report.substitution(f"workers: {name}={planned.variables[name]}")
        aliases = " ".join(alias for each in planned.services for alias in each.aliases)
        use_hosts(f"127.0.0.1 localhost {aliases}\n", self._folder)
        for definition in definitions:
            self._containers[definition.name] = Container(definition, network, logs)
        for service in planned.services:
            self._start(service)
            for port in service.ports:
                Relay(listen("127.0.0.1", port.published), (network.address(service.name), port.target))
        if self._profile == "k8s":
            report.substitution("k8s: PostgreSQL, the broker and S3 are those of compose; weights are not prefetched")
            checks.probes(planned, self._containers, report)
        checks.homes(self._containers, report)
        checks.model_servers(self._containers, report)
        Customer(planned, self._containers, report).run(self._video())
        # A worker loads its detector with the first segment.
        if self._seeded is not None:
            fetched = any(self._seeded.glob(f"{_FETCHED}-*"))
            report.check("weights.fetched", fetched, f"{_FETCHED} by a worker's own means, from the package index")
        if self._profile == "openai":
            self._machines(planned, built, network, deployment)

    def _machines(self, planned: Plan, built: Mapping[Path, Built], network: Network, deployment: Deployment) -> None:
        """Start what the AWS machines start for the same preset."""
        reason = terraform.unavailable()
        if reason is not None:
            self._report.substitution(f"the containers of AWS are left out: {reason}")
            return
        try:
            every = terraform.containers(planned.preset, self._folder / "terraform")
        except ServiceFailed as error:
            self._report.check("aws.plan", False, str(error))
            return
        self._report.check("aws.plan", True, f"{len(every)} containers for {planned.preset}")
        by_name = {each.name: each for each in planned.services}
        signer = by_name["signer"]
        workers = next(
            each
            for each in planned.services
            if "REASONER_URL" in each.environment and "MODEL_API_KEY" in each.environment
        )
        # What the machines of AWS get from its secrets.
        givers = (signer, workers, by_name["console"], by_name["api"])
        secrets = {name: value for each in givers for name, value in each.environment.items()}
        stands_in = ("S3_ENDPOINT_URL", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY", "S3_BUCKET")
        extra = {name: signer.environment[name] for name in stands_in}
        extra |= {name: workers.environment[name] for name in plan.IN_PROCESS}
        # The host's name is not asked for; the servers of compose answer for the balancer's ports.
        address = self._address()
        for each in every:
            if each.image == "vllm" and network.known(each.name):
                Relay(listen(address, int(each.environment["MODEL_SERVER_PORT"])), (network.address(each.name), 8000))
        Relay(listen(address, _SIGNER_PORT), (network.address(replicas(signer)[0]), _SIGNER_PORT))
        hosts = self._folder / "hosts-of-aws"
        hosts.write_text(f"{deployment.hosts.read_text()}{address} {terraform.MODEL_HOST}\n")
        self._report.substitution("AWS: S3 and the database are those of compose; its servers answer for the balancer")
        images_by_name = {each.image.name: each for each in built.values()}
        machines.Machines(
            images_by_name, network, hosts, deployment.volume("model-cache"), secrets, extra, self._folder, self._report
        ).check(every)

    def _start(self, service: Service) -> None:
        waits = [
            other
            for other, condition in service.depends_on.items()
            if other in self._report.unwell and condition != "service_started"
        ]
        for name in replicas(service):
            self._report.say(f"starting {name}")
            reason = f"waits for {', '.join(waits)}" if waits else self._started(self._containers[name], service)
            if reason is not None:
                self._report.unwell |= {service.name, name}
            self._report.check(f"starts.{name}", reason is None, reason or "as written")

    def _started(self, container: Container, service: Service) -> str | None:
        """Start a container and wait for its end or its health; return None, or what went wrong."""
        try:
            container.start()
            if service.restarts:
                return container.wait_healthy(default_limit_s(container.definition.health_check))
            code = container.wait(_ONE_SHOT_S)
            return None if code == 0 else f"status {code}: {container.last_lines()}"
        except ServiceFailed as error:
            return str(error)

    def _outlet(self, host: str) -> str:
        """Return an address of this network behind which a host of the package index is."""
        address = self._address()
        Relay(listen(address, 443), str(self._folder / "outlet.sock"), first=f"{host}:443\n".encode())
        return address

    def _address(self) -> str:
        self._addresses += 1
        address = f"{GATEWAY.rpartition('.')[0]}.{1 + self._addresses}"
        subprocess.run(["ip", "addr", "add", f"{address}/24", "dev", "ava0"], check=True)
        return address

    @contextmanager
    def _reasoner(self, planned: Plan) -> Iterator[Mapping[str, str]]:
        """Run the reasoner "elsewhere" that pods of the preset embedded ask; yield its host and address."""
        if plan.REASONER_HOST not in planned.variables.get("REASONER_URL", ""):
            yield {}
            return
        state = State(self._folder / "elsewhere")
        state.lock()
        home = StackHome(self._folder / "elsewhere", weights.cache_dir(), state)
        environ = {**os.environ, "AVA_REASONER": plan.REASONER, "AVA_LLM_THREADS": "1"}
        server = Llama(home, environ, key=planned.variables["MODEL_API_KEY"])
        try:
            self._report.say("starting the reasoner elsewhere")
            server.start()
            port = int(server.env()["REASONER_URL"].rpartition(":")[2].partition("/")[0])
            address = self._address()
            Relay(listen(address, 8080), ("127.0.0.1", port))
            yield {plan.REASONER_HOST: address}
        finally:
            server.stop()
            state.unlock()

    def _seed(self, deployment: Deployment, planned: Plan) -> None:
        """Put this machine's weights into the workers' cache, all but one."""
        mine = weights.cache_dir() / "weights"
        for service in planned.services:
            for mount in service.mounts:
                if mount.named and mount.target == service.environment.get("AVA_CACHE_DIR"):
                    target = deployment.volume(mount.source) / "weights"
                    if target.exists() or not mine.is_dir():
                        continue
                    target.mkdir()
                    left_out = (".",) if self._offline else (".", _FETCHED, "qwen", "smollm")
                    for weight in mine.iterdir():
                        if weight.is_dir() and not weight.name.startswith(left_out):
                            shutil.copytree(weight, target / weight.name, copy_function=os.link)
                    if self._offline:
                        self._report.substitution(f"volume {mount.source}: holds this machine's weights")
                        continue
                    self._seeded = target
                    self._report.substitution(f"volume {mount.source}: holds this machine's weights except {_FETCHED}")

    def _video(self) -> Path:
        """Return the first seconds of the demo's video."""
        source = default_video().path
        cut = self._folder / f"cut{source.suffix}"
        command = [
            str(ffmpeg.ffmpeg()),
            "-v",
            "error",
            "-y",
            "-i",
            str(source),
            "-t",
            str(_VIDEO_S),
            "-c",
            "copy",
            str(cut),
        ]
        subprocess.run(command, check=True)
        return cut

    def _stop(self) -> None:
        for name, container in reversed(self._containers.items()):
            try:
                seconds = container.stop()
            except ServiceFailed:
                continue
            if seconds > 1:
                self._report.say(f"{name} ended after {seconds:.0f} s")
