"""`infra/install` on hosts with faked programs: the preset that fits, the checks, the secrets, the commands."""

from __future__ import annotations

import argparse
import json
import re
import socket
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpu_workers.engine.models.model_table import table
from infra.installation import certificates, settings
from infra.installation import host as hosts
from infra.installation.composing import Installation
from infra.installation.host import Host
from infra.release.version import VERSION
from tests.infra.conftest import ROOT
from tests.infra.test_proxy import signed

L4, L40S, H100, T4 = 23_034, 46_068, 81_559, 15_360
"""Memory in MiB as nvidia-smi prints it."""
GIB = 1024**3


def machine(
    tmp_path: Path,
    cards: list[int],
    *,
    driver: str = "580.95.05",
    gib: int = 128,
    toolkit: bool = True,
    capability: str = "8.9",
) -> Host:
    """Return what is found on a host whose nvidia-smi and docker print these values."""
    meminfo = tmp_path / "meminfo"
    meminfo.write_text(f"MemTotal:       {gib * 1024**2} kB\nMemFree: 1 kB\n")
    printed = {
        "nvidia-smi --query-gpu=memory.total,driver_version ": "".join(f"{memory}, {driver}\n" for memory in cards),
        "nvidia-smi --query-gpu=compute_cap ": f"{capability}\n" * len(cards),
        "docker compose": "2.29.1\n",
        "docker info": '{"nvidia":{},"runc":{}}' if toolkit else '{"runc":{}}',
    }

    def run(command: list[str]) -> str:
        return next(text for start, text in printed.items() if " ".join(command).startswith(start))

    return hosts.inspect(tmp_path, run=run, meminfo=meminfo)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cards", "preset"),
    [
        ([], None),
        ([T4], None),
        ([L4], "gpu-24gb"),
        ([L4, L4], "gpu-24gb"),
        ([L40S], "gpu-48gb"),
        ([H100], "gpu-80gb"),
        ([L40S, L40S], "two-gpus"),
        ([L40S, L4], "gpu-48gb"),
        ([L40S] * 4, "four-gpus"),
        ([H100] * 8, "four-gpus"),
    ],
)
def test_the_preset_that_fits_is_chosen(tmp_path: Path, cards: list[int], preset: str | None) -> None:
    chosen = hosts.choose(machine(tmp_path, cards), table())

    assert (chosen and chosen.name) == preset


def failing(preset: str, host: Host) -> set[str]:
    return {check.name for check in hosts.checks(table().presets[preset], host, table()) if not check.holds}


def test_a_host_that_lacks_something_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts.shutil, "disk_usage", lambda _: SimpleNamespace(free=500 * GIB))

    assert failing("gpu-48gb", machine(tmp_path, [L40S])) == set()
    assert failing("gpu-48gb", machine(tmp_path, [L40S], driver="550.12")) == {"driver"}
    assert failing("gpu-48gb", machine(tmp_path, [L40S], toolkit=False)) == {"runtime"}
    assert failing("gpu-48gb", machine(tmp_path, [L40S], capability="7.5")) == {"capability"}
    assert failing("gpu-48gb", machine(tmp_path, [L40S, T4], capability="9.0")) == set()
    # What nvidia-smi prints where the driver does not know the field.
    assert failing("gpu-48gb", machine(tmp_path, [L40S], capability="[N/A]")) == set()
    assert failing("gpu-48gb", machine(tmp_path, [L40S], gib=16)) == {"memory"}
    assert failing("two-gpus", machine(tmp_path, [L40S])) == {"gpus"}
    assert failing("embedded", machine(tmp_path, [], driver="", toolkit=False)) == set()
    monkeypatch.setattr(hosts.shutil, "disk_usage", lambda _: SimpleNamespace(free=10 * GIB))
    assert failing("embedded", machine(tmp_path, [])) == {"disk"}


def test_without_a_docker_that_answers_nothing_is_started(tmp_path: Path) -> None:
    host = hosts.inspect(tmp_path, run=lambda _: "")

    assert {"engine", "docker"} <= failing("embedded", host)


def test_a_port_at_which_another_program_listens_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        check = hosts.ports_check([port])

    assert (check.holds, check.detail) == (False, f"other programs listen at {port}; end them")
    assert hosts.ports_check([port]).holds


def test_secrets_are_made_once_and_kept(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("S3_BUCKET=mine\nAVA_SECRET_KEY=kept")
    file.chmod(0o644)
    preset = table().presets["gpu-48gb"]

    settings.add(file, settings.missing(file, settings.wanted(preset, "")))
    first = settings.read(file)
    settings.add(file, settings.missing(file, settings.wanted(preset, "")))

    assert settings.read(file) == first
    assert first["S3_BUCKET"] == "mine"
    assert first["AVA_SECRET_KEY"] == "kept"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    made = [first[name] for name in (*settings.PASSWORDS, *settings.NUMBERED) if name != "AVA_SECRET_KEY"]
    assert len(set(made)) == len(made)
    assert all(len(value.rpartition(":")[2]) == 48 for value in made)


@pytest.mark.parametrize("domain", ["", "ava.example.com"])
def test_the_values_satisfy_the_compose_file(tmp_path: Path, domain: str) -> None:
    values = settings.wanted(table().presets["two-gpus"], domain)

    required = set(re.findall(r"\$\{([A-Z0-9_]+):\?", (ROOT / "infra" / "compose.yaml").read_text()))
    assert required <= set(values)
    assert values["AVA_PUBLIC_URL"] == (f"https://{domain}" if domain else "http://127.0.0.1:8000")
    assert ("public" in values.get("COMPOSE_PROFILES", "").split(",")) == bool(domain)


FAKE_DOCKER = """#!{python}
import json, os, sys
with open(os.environ["CALLS"], "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
if sys.argv[1:3] == ["compose", "version"]:
    print("2.29.1")
elif sys.argv[1] == "info":
    print('{{"nvidia":{{}}}}')
elif "create_tenant" in sys.argv:
    print(json.dumps({{"tenant_id": "t", "api_key": "ava_key"}}))
"""


def installed(tmp_path: Path, *arguments: str, card: int = L40S) -> subprocess.CompletedProcess[str]:
    """Run infra/install with a docker and an nvidia-smi that only record and print."""
    programs = tmp_path / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "docker").write_text(FAKE_DOCKER.format(python=sys.executable))
    (programs / "nvidia-smi").write_text(f"#!/bin/sh\necho '{card}, 580.95.05'\n")
    for program in programs.iterdir():
        program.chmod(0o755)
    command = [sys.executable, str(ROOT / "infra" / "install"), "--env-file", str(tmp_path / ".env"), *arguments]
    return subprocess.run(
        command,
        env={"PATH": f"{programs}:/usr/bin:/bin", "CALLS": str(tmp_path / "calls")},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_it_starts_everything_and_shows_the_key_once(tmp_path: Path) -> None:
    done = installed(tmp_path, "--anyway", "--tenant", "acme")

    assert done.returncode == 0, done.stderr
    assert "API key ava_key (shown only now)" in done.stdout
    values = settings.read(tmp_path / ".env")
    assert values["MODEL_PRESET"] == "gpu-48gb"
    calls = (tmp_path / "calls").read_text()
    words = ("build", "--fetch", "up", "create_tenant", "ensure_console_admin")
    order = [word for line in calls.splitlines() for word in words if word in json.loads(line)]
    servers = table().presets["gpu-48gb"].servers
    assert order == ["build", *["--fetch"] * len(servers), "up", "create_tenant", "ensure_console_admin"]
    assert f"{ROOT}/infra/presets/gpu-48gb.env" in calls
    for secret in (*settings.PASSWORDS, *settings.NUMBERED):
        assert values[secret] not in calls + done.stdout, "no secret stands in an argument or on the screen"


def test_it_keeps_what_started_and_says_that_there_is_no_backup(tmp_path: Path) -> None:
    done = installed(tmp_path, "--anyway")

    assert done.returncode == 0, done.stderr
    assert "THERE IS NO BACKUP" in done.stdout
    kept = Installation(tmp_path / ".env").kept(VERSION)
    assert (kept / "compose.yaml").read_text() == (ROOT / "infra" / "compose.yaml").read_text()
    settings.add(tmp_path / ".env", {"AVA_BACKUP_TO": "/srv/backups"})
    assert "THERE IS NO BACKUP" not in installed(tmp_path, "--anyway").stdout


def test_another_version_is_not_installed_over_one_that_runs(tmp_path: Path) -> None:
    settings.add(tmp_path / ".env", {"MODEL_PRESET": "gpu-48gb", "AVA_VERSION": "0.9.0"})

    done = installed(tmp_path, "--anyway")

    assert done.returncode == 1
    assert "infra/ava-admin upgrade" in done.stderr
    assert '"up"' not in (tmp_path / "calls").read_text()


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    done = installed(tmp_path, "--dry-run", "--preset", "gpu-24gb")

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("would run: docker compose") == 4 + len(table().presets["gpu-24gb"].servers)
    assert not (tmp_path / ".env").exists()
    assert '"up"' not in (tmp_path / "calls").read_text()


def test_offline_it_builds_and_fetches_nothing(tmp_path: Path) -> None:
    done = installed(tmp_path, "--anyway", "--offline")

    assert done.returncode == 0, done.stderr
    calls = (tmp_path / "calls").read_text()
    assert '"up"' in calls
    assert '"build"' not in calls
    assert '"--fetch"' not in calls
    assert settings.OFFLINE.items() <= settings.read(tmp_path / ".env").items()


def test_a_check_fails_by_its_exit_status(tmp_path: Path) -> None:
    done = installed(tmp_path, "--check", "--preset", "four-gpus")

    assert done.returncode == 1
    assert "FAIL gpus: 45 GiB; the preset needs cards of 44, 44, 44, 44 GiB" in done.stdout
    assert re.search(r"^this host lacks: .*gpus", done.stdout, flags=re.M)
    assert not (tmp_path / ".env").exists()


def test_without_a_card_that_fits_the_operator_chooses_the_models(tmp_path: Path) -> None:
    """A reasoner on the processor is slow and answers badly, so it is not chosen for anybody."""
    done = installed(tmp_path, "--anyway", card=T4)

    assert done.returncode == 1
    assert "--preset hosted" in done.stderr
    assert not (tmp_path / ".env").exists()


def test_the_reasoner_of_a_host_without_a_card_is_fetched_before_it_starts(tmp_path: Path) -> None:
    done = installed(tmp_path, "--anyway", "--preset", "embedded", card=T4)

    assert done.returncode == 0, done.stderr
    calls = [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()]
    (fetch,) = (call for call in calls if "--fetch" in call)
    assert fetch[-4:] == ["reasoner", "--model=qwen2.5-coder-1.5b", "--port=8080", "--fetch"]
    assert calls.index(fetch) < next(index for index, call in enumerate(calls) if "up" in call)


def test_hosted_models_need_their_addresses_first(tmp_path: Path) -> None:
    done = installed(tmp_path, "--anyway", "--preset", "hosted")

    assert done.returncode == 1
    assert "REASONER_URL, REASONER_MODEL, REASONER_API_KEY, DESCRIBER_URL" in done.stderr
    assert '"up"' not in (tmp_path / "calls").read_text()


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--domain", default="")
    certificates.add_options(parser)
    return parser.parse_args(arguments)


def test_the_proxy_gets_the_operators_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "CERTIFICATE", tmp_path)
    monkeypatch.setattr(certificates, "AUTHORITIES", tmp_path)
    authority = signed(tmp_path)
    files = ("--certificate", str(tmp_path / "certificate/tls.crt"), "--key", str(tmp_path / "certificate/tls.key"))
    given = options("--domain", "ava.example.com", *files, "--authority", str(authority))

    certificates.check(given)
    certificates.place(given)

    assert certificates.settings(given) == {"AVA_CERTIFICATE": "files", "AVA_CA_FILE": "/authorities/ca.crt"}
    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("tls.crt", "tls.key", "ca.crt")}
    assert modes == {"tls.crt": 0o644, "tls.key": 0o600, "ca.crt": 0o644}
    other = options("--domain", "a", *files[:3], str(tmp_path / "ca.key"))
    with pytest.raises(certificates.CertificateRefused, match="cannot be used"):
        certificates.check(other)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--certificate", "a"], "go together"),
        (["--domain", "a", "--internal-ca", "--acme", "https://ca.example"], "choose one"),
        (["--internal-ca"], "give --domain"),
        (["--domain", "a", "--authority", "ca.crt"], "goes with"),
    ],
)
def test_options_of_certificates_that_do_not_fit_together_are_refused(arguments: list[str], reason: str) -> None:
    with pytest.raises(certificates.CertificateRefused, match=reason):
        certificates.settings(options(*arguments))


def test_the_authority_of_the_proxy_is_there_before_the_processes_that_read_it(tmp_path: Path) -> None:
    named = ("--domain", "ava.internal", "--internal-ca")
    done = installed(tmp_path, "--dry-run", "--preset", "embedded", *named)

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    proxy, cat, everything = (
        next(index for index, line in enumerate(lines) if line.endswith(end))
        for end in ("--wait --no-deps proxy", "root.crt", "--wait-timeout 7200")
    )
    assert proxy < cat < everything


def test_another_preset_than_the_installed_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("MODEL_PRESET=gpu-24gb\n")

    done = installed(tmp_path, "--anyway", "--preset", "gpu-48gb")

    assert done.returncode == 1
    assert "MODEL_PRESET=gpu-24gb; to change the preset, edit that line" in done.stderr
