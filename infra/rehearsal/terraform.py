"""Read what each AWS machine starts: terraform plans with a scripted provider, and its start scripts are read."""

from __future__ import annotations

import base64
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.local.errors import NotInstalled, ServiceFailed
from infra.rehearsal.compose import PROJECT

MODEL_HOST = "models.internal.example"
"""Name of the scripted balancer in front of the model servers."""
_TABLE = Path("gpu_workers/engine/models/models.json")
_MIRRORS = ("/usr/local/share/terraform/plugins", "/usr/share/terraform/plugins")
# Flags of `docker run` that take no value.
_FLAGS = {"--rm", "--init", "--read-only"}
_RUN = """
mock_provider "aws" {
  override_during = plan

  mock_data "aws_iam_policy_document" {
    defaults = { json = "{}" }
  }
  mock_data "aws_secretsmanager_random_password" {
    defaults = { random_password = "scriptedscriptedscriptedscripted" }
  }
  mock_resource "aws_ecr_repository" {
    defaults = {
      repository_url = "111122223333.dkr.ecr.eu-central-1.amazonaws.com/ava"
      arn            = "arn:aws:ecr:eu-central-1:111122223333:repository/ava"
    }
  }
  mock_resource "aws_network_interface" {
    defaults = { private_ip = "10.40.0.10" }
  }
  mock_resource "aws_lb" {
    defaults = {
      dns_name = "%(host)s"
      arn      = "arn:aws:elasticloadbalancing:eu-central-1:111122223333:loadbalancer/net/ava/1"
    }
  }
}

run "rehearsed" {
  command = plan

  variables {
    region             = "eu-central-1"
    environment        = "prod"
    availability_zones = ["eu-central-1a", "eu-central-1b"]
    domain             = "ava.example.com"
    certificate_arn    = "arn:aws:acm:eu-central-1:111122223333:certificate/00000000-0000-0000-0000-000000000000"
    image_tag          = "rehearsed"
    vllm_image_tag     = "rehearsed"
    machine_images     = { cpu = "ami-0123456789abcdef0", gpu = "ami-0fedcba9876543210" }
    postgres_image_tag = "rehearsed"
    alarm_emails       = ["operations@example.com"]
    model_preset       = "%(preset)s"
  }
}
"""


@dataclass(frozen=True)
class MachineContainer:
    """One container of one kind of machine.

    environment: without the secrets, whose names are in secrets. own_secrets: variables of this container alone, each
    with the name of its secret. objects: whether the machine's role may use the bucket.
    """

    group: str
    name: str
    image: str
    entrypoint: tuple[str, ...] | None
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    secrets: tuple[str, ...]
    own_secrets: Mapping[str, str]
    objects: bool
    health: str | None
    read_only: bool
    tmpfs: tuple[str, ...]
    volumes: tuple[str, ...]
    host_network: bool
    gpus: bool


def unavailable() -> str | None:
    """Return why terraform cannot plan here, or None if it can."""
    if shutil.which("terraform") is None:
        return "no terraform binary on this machine"
    return (
        None if _mirror() else "no offline mirror of the aws provider on this machine (AVA_TERRAFORM_MIRROR names one)"
    )


def containers(preset: str, folder: Path) -> list[MachineContainer]:
    """Return the containers of all machines that terraform plans for a preset. folder: for terraform's work."""
    plan = _plan(preset, folder)
    images = plan["output_changes"]["containers"]["after"]
    found = []
    for change in plan["resource_changes"]:
        if change["type"] == "aws_launch_template":
            script = base64.b64decode(change["change"]["after"]["user_data"]).decode()
            group = change["index"]
            bodies = images[group]
            objects = any(body["objects"] for body in bodies.values())
            found += machine(group, script, {name: body["image"] for name, body in bodies.items()}, objects=objects)
    return found


def machine(group: str, script: str, images: Mapping[str, str], *, objects: bool) -> list[MachineContainer]:
    """Return the containers that a machine's start script runs.

    images: the image of each container, by its name. objects: see MachineContainer.
    """
    settings = _heredoc(script, "/etc/ava/settings")
    secrets = re.findall(r"^for secret in (.*); do$", script, flags=re.M)
    found = []
    for name in re.findall(r"^cat > /etc/systemd/system/ava-(\S+)\.service <<'EOF'$", script, flags=re.M):
        unit = _heredoc(script, f"/etc/systemd/system/ava-{name}.service").replace("\\\n", " ")
        command = next(line for line in unit.splitlines() if line.startswith("ExecStart="))
        own = re.findall(rf"^ExecStartPre=\S+/ava-prepare {re.escape(name)} \S+(.*)$", unit, flags=re.M)
        # systemd reads %% as %.
        options, arguments = _docker_run(shlex.split(command.partition("=")[2].replace("%%", "%")))
        environment = dict(line.partition("=")[::2] for line in settings.splitlines() if "=" in line)
        environment |= dict(pair.partition("=")[::2] for pair in options.get("--env", []))
        found.append(
            MachineContainer(
                group=group,
                name=name,
                image=images[name],
                entrypoint=tuple(options["--entrypoint"]) if "--entrypoint" in options else None,
                arguments=arguments,
                environment=environment,
                secrets=tuple(secrets[0].split()) if secrets else (),
                own_secrets=dict(pair.split("=") for pair in own[0].split()) if own else {},
                objects=objects,
                health=next(iter(options.get("--health-cmd", [])), None),
                read_only="--read-only" in options,
                tmpfs=tuple(path.partition(":")[0] for path in options.get("--tmpfs", [])),
                # Files of the machine, such as the database's certificate, have no stand-in here.
                volumes=tuple(
                    volume.partition(":")[2] for volume in options.get("--volume", []) if not volume.startswith("/")
                ),
                host_network=options.get("--network") == ["host"],
                gpus="--gpus" in options,
            )
        )
    return found


def _heredoc(script: str, path: str) -> str:
    match = re.search(rf"^cat > {re.escape(path)} <<'EOF'\n(.*?)^EOF$", script, flags=re.M | re.S)
    if match is None:
        raise ServiceFailed(f"the start script writes no {path}")
    return match[1]


def _docker_run(words: list[str]) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """Return the options of a `docker run` by name, and the words after the image."""
    options: dict[str, list[str]] = {}
    position = words.index("run") + 1
    while words[position].startswith("-"):
        name, equals, value = words[position].partition("=")
        position += 1
        if name in _FLAGS:
            options[name] = []
            continue
        if not equals:
            value = words[position]
            position += 1
        options.setdefault(name, []).append(value)
    return options, tuple(words[position + 1 :])


def _plan(preset: str, folder: Path) -> dict[str, Any]:
    shutil.rmtree(folder, ignore_errors=True)
    tree = folder / "terraform"
    shutil.copytree(PROJECT / "terraform", tree, ignore=shutil.ignore_patterns(".terraform*"))
    (folder / _TABLE).parent.mkdir(parents=True)
    shutil.copy(PROJECT / _TABLE, folder / _TABLE)
    # Scripted providers support no ephemeral resources; in this copy the generated passwords are ordinary data.
    secrets = tree / "modules" / "secrets" / "main.tf"
    secrets.write_text(
        secrets.read_text().replace('ephemeral "aws_', 'data "aws_').replace("ephemeral.aws_", "data.aws_")
    )
    (tree / "tests").mkdir()
    (tree / "tests" / "rehearsed.tftest.hcl").write_text(_RUN % {"preset": preset, "host": MODEL_HOST})
    cli = folder / "cli.tfrc"
    cli.write_text(f'provider_installation {{\n  filesystem_mirror {{\n    path = "{_mirror()}"\n  }}\n}}\n')
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "TF_CLI_CONFIG_FILE": str(cli), "CHECKPOINT_DISABLE": "1"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        binary = shutil.which("terraform")
        if binary is None:
            raise NotInstalled("no terraform binary on this machine")
        return subprocess.run([binary, *arguments], cwd=tree, env=env, capture_output=True, text=True, check=False)

    started = run("init", "-backend=false", "-input=false", "-no-color")
    if started.returncode != 0:
        raise ServiceFailed(f"terraform init: {started.stderr.strip()[-800:]}")
    faults = []
    for line in run("test", "-json", "-verbose").stdout.splitlines():
        message = json.loads(line)
        if message["type"] == "test_plan":
            plan = message["test_plan"]
            assert isinstance(plan, dict)
            return plan
        if message["type"] == "diagnostic":
            faults.append(f"{message['diagnostic']['summary']}: {message['diagnostic']['detail']}")
    raise ServiceFailed(f"terraform plans nothing for {preset}: {'; '.join(faults)[-800:]}")


def _mirror() -> Path | None:
    named = os.environ.get("AVA_TERRAFORM_MIRROR")
    folders = [Path(named)] if named else [*map(Path, _MIRRORS), *Path("/opt").glob("*")]
    return next((folder for folder in folders if (folder / "registry.terraform.io/hashicorp/aws").is_dir()), None)
