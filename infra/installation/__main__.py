"""Check this host, choose a preset, make the secrets, start everything, create the first tenant and the operator."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from gpu_workers.engine.models.model_table import Preset, table
from infra.installation import certificates, settings
from infra.installation import host as hosts
from infra.installation.composing import Installation, InstallFailed, command_line, fetches
from infra.release.version import PROJECT, VERSION


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="infra/install", description=__doc__)
    parser.add_argument("--preset", choices=list(table().presets), help="by default the one that fits the GPUs")
    parser.add_argument("--domain", default="", help="public host name; S3 answers under s3.<domain>; both need DNS")
    certificates.add_options(parser)
    parser.add_argument("--env-file", type=Path, default=PROJECT / ".env", help="by default .env of the project")
    parser.add_argument("--tenant", default="first", help="slug of the first tenant")
    parser.add_argument("--disk", type=Path, default=Path("/"), help="a folder of the file system of Docker's data")
    parser.add_argument("--offline", action="store_true", help="build and fetch nothing: images and weights are there")
    parser.add_argument("--anyway", action="store_true", help="go on although a check does not hold")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true", help="only check the host; exit status 1 if a check fails")
    action.add_argument("--dry-run", action="store_true", help="write nothing; print what would be done")
    return parser.parse_args(arguments)


def chosen(options: argparse.Namespace, host: hosts.Host) -> Preset:
    """Return the preset of the command line, of an earlier installation, or that fits. Raises InstallFailed."""
    presets, earlier = table().presets, settings.read(options.env_file).get("MODEL_PRESET")
    if earlier and earlier not in presets:
        raise InstallFailed(f"{options.env_file} has MODEL_PRESET={earlier}, which the model table does not know")
    if earlier and options.preset not in (None, earlier):
        raise InstallFailed(
            f"{options.env_file} has MODEL_PRESET={earlier}; to change the preset, edit that line and remove "
            "COMPOSE_PROFILES if it is there"
        )
    name = options.preset or earlier
    if name:
        return presets[name]
    fitting = hosts.choose(host, table())
    if fitting is None:
        raise InstallFailed(
            "no preset for GPUs fits the cards of this host. Choose one: --preset hosted takes a vision-language model "
            "and a reasoner of a provider; --preset embedded measures videos without describing them, and answers with "
            "a small model on the processor, which is slow and often wrong, and is for trials"
        )
    return fitting


def install(options: argparse.Namespace, *, run: hosts.Run = hosts.run) -> int:
    """Carry out the command line. Raises InstallFailed."""
    host = hosts.inspect(options.disk, run=run)
    preset = chosen(options, host)
    print(f"preset {preset.name}: {preset.summary}")
    found = hosts.checks(preset, host, table())
    written = settings.read(options.env_file)
    if not written:
        found.append(hosts.ports_check([8000, 8010, 8333, *([80, 443] if options.domain else [])]))
    for check in found:
        print(f"  {'ok  ' if check.holds else 'FAIL'} {check.name}: {check.detail}")
    failed = [check.name for check in found if not check.holds]
    if options.check:
        print(f"this host lacks: {', '.join(failed)}" if failed else "this host has what the preset needs")
        return 1 if failed else 0
    if failed and not (options.anyway or options.dry_run):
        raise InstallFailed(f"this host lacks: {', '.join(failed)}; mend it, or repeat with --anyway")

    running = settings.read(options.env_file).get("AVA_VERSION", VERSION)
    if running != VERSION:
        raise InstallFailed(f"{running} is installed, and this folder holds {VERSION}: run infra/ava-admin upgrade")
    earlier = settings.read(options.env_file).get("AVA_PUBLIC_URL")
    if options.domain and earlier not in (None, f"https://{options.domain}"):
        raise InstallFailed(
            f"{options.env_file} has AVA_PUBLIC_URL={earlier}; remove that line to install for {options.domain}"
        )
    certificates.check(options)
    wanted = {**settings.wanted(preset, options.domain), **certificates.settings(options)}
    if options.offline:
        wanted |= settings.OFFLINE
    new = settings.missing(options.env_file, wanted)
    lacking = settings.without_models(preset, {**settings.read(options.env_file), **new})
    print(f"{options.env_file}: {len(new)} new values: {', '.join(new) or 'none'}")
    commands = _commands(preset, options)
    if options.dry_run:
        for command in commands:
            print(f"would run: {shlex.join(command)}")
    else:
        settings.add(options.env_file, new)
        certificates.place(options)
    if lacking and not options.dry_run:
        raise InstallFailed(
            f"preset {preset.name} needs models elsewhere: set {', '.join(lacking)} in {options.env_file}, then run "
            "infra/install again"
        )
    if not options.dry_run:
        _start(commands, options)
    return 0


def _commands(preset: Preset, options: argparse.Namespace) -> list[list[str]]:
    """Return the steps in their order; the last two make the tenant and the account."""

    def in_compose(*arguments: str) -> list[str]:
        return command_line(preset.name, options.env_file, *arguments)

    manage = ("exec", "-T", "api", "python", "manage.py")
    named = ("--name", options.tenant, "--slug", options.tenant, "--if-absent")
    password = ("exec", "-T", "--env", "AVA_CONSOLE_PASSWORD", "console", "python", "manage.py")
    fetching = [
        in_compose("build"),
        # Tens of gigabytes, with a line per file. The start of a server has a limit of time, and this step has none.
        *(in_compose(*words) for words in fetches(preset)),
    ]
    return [
        *([] if options.offline else fetching),
        # The proxy makes its authority when it starts, and the other processes read it when they start.
        *(
            [
                in_compose("up", "--detach", "--wait", "--no-deps", "proxy"),
                in_compose("exec", "-T", "proxy", "cat", certificates.AUTHORITY_OF_CADDY),
            ]
            if options.internal_ca
            else []
        ),
        # provision and migrate run first, because everything else waits for them.
        in_compose("up", "--detach", "--wait", "--wait-timeout", "7200"),
        in_compose(*manage, "create_tenant", *named),
        in_compose(*password, "ensure_console_admin", "--email", "operator@localhost"),
    ]


def _start(commands: list[list[str]], options: argparse.Namespace) -> None:
    *steps, tenant, account = commands
    values = settings.read(options.env_file)
    # The console's password goes through the environment, because every process of the machine can read arguments.
    env = {**os.environ, "AVA_CONSOLE_PASSWORD": values["AVA_CONSOLE_PASSWORD"]}
    for command in steps:
        authority = command[-1] == certificates.AUTHORITY_OF_CADDY
        done = subprocess.run(command, cwd=PROJECT, env=env, stdout=subprocess.PIPE if authority else None, check=False)
        if done.returncode != 0:
            raise InstallFailed(f"{shlex.join(command)} failed; the lines above say why")
        if authority:
            certificates.trust(done.stdout)
            print(f"clients must trust {certificates.AUTHORITIES / 'ca.crt'}")
    made = subprocess.run(tenant, cwd=PROJECT, env=env, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise InstallFailed(f"the first tenant could not be created: {made.stderr.strip()}")
    key = json.loads(made.stdout.strip().splitlines()[-1])["api_key"]
    if subprocess.run(account, cwd=PROJECT, env=env, check=False).returncode != 0:
        raise InstallFailed("the console account could not be created; the lines above say why")
    Installation(options.env_file.resolve()).keep_files()
    print(f"AVA Cloud answers at {values['AVA_PUBLIC_URL']}")
    print(f"tenant {options.tenant}: " + (f"API key {key} (shown only now)" if key else "exists already"))
    address = values.get("AVA_CONSOLE_URL", "http://127.0.0.1:8010")
    print(f"console: {address}/console/, operator@localhost, password in {options.env_file} (AVA_CONSOLE_PASSWORD)")
    if not (values.get("WAL_ARCHIVE_URL") or values.get("AVA_BACKUP_TO")):
        print("THERE IS NO BACKUP. Set AVA_BACKUP_TO in .env and let cron run infra/ava-admin backup every night:")
        print("  docs/runbooks/one-host.md#back-up")


def main(arguments: Sequence[str] | None = None) -> int:
    """Install, check or rehearse; exit status 1 with the reason if a step fails."""
    try:
        return install(parsed(arguments))
    except (InstallFailed, certificates.CertificateRefused) as error:
        print(f"install: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
