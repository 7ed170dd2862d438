"""docs/configuration.md lists every variable that the code reads, and no other."""

from __future__ import annotations

import re

from tests.infra.conftest import ROOT
from tests.infra.variables import backend_variables, local_variables, model_variables, server_variables

PAGE = ROOT / "docs" / "configuration.md"
NOT_SETTINGS = {
    "AVA_STARTED": "made by the Makefile",
    "DJANGO_SETTINGS_MODULE": "fixed by the images",
    "HF_HUB_DISABLE_PROGRESS_BARS": "fixed by the workers",
    "NO_PROXY": "of the machine",
    "NVIDIA_VISIBLE_DEVICES": "made by the container runtime",
    "PATH": "of the machine",
    "PYTHONPATH": "of the machine",
    "UV_FIND_LINKS": "of the package installer",
    "VLLM_API_KEY": "made by the launcher from MODEL_API_KEY",
}
"""Variables that the code reads and that are no settings, each with the reason."""


def read() -> set[str]:
    return {*backend_variables(), *model_variables(), *server_variables(), *local_variables()}


def listed() -> set[str]:
    """Return the variables in the first column of the page's tables."""
    rows = [line.split("|")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`([A-Z][A-Z0-9_]+)`", row)}


def test_every_variable_that_the_code_reads_is_listed() -> None:
    assert read() - listed() - set(NOT_SETTINGS) == set()


def test_every_listed_variable_is_read() -> None:
    compose = set(re.findall(r"(?<!\$)\$\{([A-Z0-9_]+)", (ROOT / "infra" / "compose.yaml").read_text()))

    images = ROOT / "infra" / "images"
    scripts = "".join((images / name).read_text() for name in ("ava-archive", "pooler-entrypoint.sh"))
    scripts += (ROOT / "infra" / "observability" / "alertmanager-entrypoint.sh").read_text()
    by_scripts = set(re.findall(r"\$\{?((?:WAL|POOLER|ALERT)_\w+)", scripts))
    by_backups = {"AVA_BACKUP_ENDPOINT", "AVA_BACKUP_ACCESS_KEY_ID", "AVA_BACKUP_SECRET_ACCESS_KEY"}
    by_admin = {"AVA_BACKUP_TO", "AVA_FORMER_VERSION"}
    by_compose_itself = {"COMPOSE_PROFILES"}
    by_the_library_of_the_hub = {"HF_ENDPOINT", "HF_HUB_OFFLINE", "HF_TOKEN"}
    by_an_option = {"AVA_CONSOLE_PASSWORD", "AVA_CONSOLE_CODE"}
    elsewhere = by_scripts | by_backups | by_admin | by_compose_itself | by_an_option | by_the_library_of_the_hub
    assert listed() - read() - compose - elsewhere == set()


def test_every_variable_of_the_compose_file_is_named() -> None:
    compose = set(re.findall(r"(?<!\$)\$\{([A-Z0-9_]+)", (ROOT / "infra" / "compose.yaml").read_text()))

    assert compose - set(re.findall(r"`([A-Z][A-Z0-9_]+)`", PAGE.read_text())) == set()


def test_no_exception_is_stale() -> None:
    assert set(NOT_SETTINGS) - {"PYTHONPATH"} <= read()
