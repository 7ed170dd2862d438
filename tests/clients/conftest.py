"""The API's processes, as customers' programs reach them, and the TypeScript client as a package."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from infra.clients import typescript_client
from tests.api.conftest import _servers, server

__all__ = ("_servers", "server")


@pytest.fixture(scope="session")
def packed_typescript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the TypeScript client and return its package. What customers write is compiled with it."""
    from tests.clients.test_packages import run

    ignored = shutil.ignore_patterns("node_modules", "dist")
    package = tmp_path_factory.mktemp("typescript") / "source"
    shutil.copytree(typescript_client.PACKAGE, package, ignore=ignored)
    shutil.copy(Path(__file__).with_name("usage.ts"), package / "src")
    run("npm", "ci", "--no-audit", "--no-fund", folder=package)
    run("npm", "run", "build", folder=package)
    return package / run("npm", "pack", "--silent", folder=package).strip()
