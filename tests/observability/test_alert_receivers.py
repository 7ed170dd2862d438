"""Where alerts go: what the entry points of Alertmanager and Prometheus write, read by amtool."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from infra.observability.promtool import PROJECT, NoPromtool, ensure_promtool

FOLDER = PROJECT / "infra" / "observability"
MAIL = {
    "ALERT_MAIL_TO": "ops@example.com",
    "ALERT_MAIL_FROM": "ava@example.com",
    "ALERT_MAIL_SERVER": "mail.example.com:587",
    "ALERT_MAIL_USER": "ava",
    "ALERT_MAIL_PASSWORD": "it's secret",
}


def started(folder: Path, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run an entry point in front of a program of that name that keeps its configuration and its arguments."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    shim = programs / script.partition("-")[0]
    shim.write_text(
        f'#!/bin/sh\necho "$*" > {folder}/arguments\n'
        f'for word; do case $word in --config.file=/tmp/*) cp "${{word#*=}}" {folder}/written.yml;; esac; done\n'
    )
    shim.chmod(0o755)
    return subprocess.run(
        ["/bin/sh", str(FOLDER / script), "--storage.path=/x"],
        env={"PATH": f"{programs}:{os.environ['PATH']}", "CERTIFICATE_TARGETS": f"{folder}/targets", **environment},
        capture_output=True,
        text=True,
        timeout=30,
    )


def checked(config: Path, *severities: str) -> list[str]:
    """Let amtool check a configuration, and return the receiver of an alert of each severity."""
    try:
        amtool = ensure_promtool("amtool")
    except NoPromtool as error:
        pytest.skip(str(error))
    done = subprocess.run([amtool, "check-config", str(config)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    command = [amtool, "config", "routes", "test", f"--config.file={config}"]
    found = [
        subprocess.run([*command, f"severity={each}"], capture_output=True, text=True, timeout=60, check=True)
        for each in severities
    ]
    return [each.stdout.strip() for each in found]


def test_an_alert_goes_to_the_webhook_and_by_mail(tmp_path: Path) -> None:
    hook = "https://pager.example.com/hook?key=a%20b"
    done = started(tmp_path, "alertmanager-entrypoint.sh", ALERT_WEBHOOK_URL=hook, **MAIL)

    assert done.returncode == 0, done.stderr
    assert checked(tmp_path / "written.yml", "page", "ticket") == ["operator", "operator"]
    (receiver,) = yaml.safe_load((tmp_path / "written.yml").read_text())["receivers"]
    assert receiver["webhook_configs"] == [{"url": hook}]
    (mail,) = receiver["email_configs"]
    assert (mail["to"], mail["smarthost"]) == ("ops@example.com", "mail.example.com:587")
    assert Path(mail["auth_password_file"]).read_text() == "it's secret"
    assert "secret" not in (tmp_path / "arguments").read_text() + (tmp_path / "written.yml").read_text()


def test_without_a_receiver_alerts_are_only_shown(tmp_path: Path) -> None:
    done = started(tmp_path, "alertmanager-entrypoint.sh")

    assert done.returncode == 0, done.stderr
    assert checked(tmp_path / "written.yml", "page") == ["operator"]
    assert yaml.safe_load((tmp_path / "written.yml").read_text())["receivers"] == [{"name": "operator"}]


def test_a_mail_without_a_server_is_refused(tmp_path: Path) -> None:
    given = {name: value for name, value in MAIL.items() if name != "ALERT_MAIL_SERVER"}
    done = started(tmp_path, "alertmanager-entrypoint.sh", **given)

    assert done.returncode != 0
    assert "ALERT_MAIL_SERVER" in done.stderr


@pytest.mark.parametrize("named", [True, False])
def test_the_certificates_of_a_hosts_names_are_watched(named: bool, tmp_path: Path) -> None:
    names = {"AVA_DOMAIN": "ava.example.com", "S3_DOMAIN": "s3.ava.example.com"} if named else {"AVA_DOMAIN": ""}
    done = started(tmp_path, "prometheus-entrypoint.sh", **names)

    assert done.returncode == 0, done.stderr
    targets = json.loads((tmp_path / "targets").read_text())
    assert targets == ([{"targets": ["ava.example.com:443", "s3.ava.example.com:443"]}] if named else [])
    assert "--config.file=/etc/prometheus/ava/prometheus.yml" in (tmp_path / "arguments").read_text()
