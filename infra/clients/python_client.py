"""The generated parts of the Python client: `_generated` by openapi-python-client from openapi.yaml, and `_sync` by
unasync from `_async`."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import venv
from collections.abc import Iterable
from pathlib import Path

from infra.clients.running import run

PROJECT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
DOCUMENT = PROJECT / "frontend_api_schema" / "openapi.yaml"
PACKAGE = PROJECT / "frontend_api_schema" / "python" / "src" / "ava_cloud"

TOOLS = PROJECT / ".local" / "clients"
PACKAGES = ("openapi-python-client==0.29.1", "unasync==0.6.0")
"""The generators have an environment of their own, because they want other versions than the service."""

MADE_FROM = "made_from.txt"
"""File of `_generated` with the digests of what it was made from and of what was made, so that tests notice a change
of either without the generators."""

_UNASYNC = """
import json, sys, unasync
source, target, names = sys.argv[1:4]
rule = unasync.Rule(source, target, additional_replacements=json.loads(names))
unasync.unasync_files(sys.argv[4:], [rule])
"""

_SYNC_NAMES = {
    "_async": "_sync",
    "AsyncAva": "Ava",
    "AsyncVideos": "Videos",
    "AsyncUploader": "Uploader",
    "AsyncRetryTransport": "RetryTransport",
    "AsyncClient": "Client",
    "AsyncHTTPTransport": "HTTPTransport",
    "AsyncBaseTransport": "BaseTransport",
    "set_async_httpx_client": "set_httpx_client",
    "get_async_httpx_client": "get_httpx_client",
    "aclosing": "closing",
    "async_each_at_once": "each_at_once",
    "async_sleep": "sleep",
    "AsyncLooks": "Looks",
    "asyncio": "sync",
    "aclose": "close",
    "aread": "read",
    "aiter_lines": "iter_lines",
}
"""Names of the façade for asyncio, and what they are called without it."""


def generate(package: Path) -> None:
    """Write `_generated` and `_sync` of a package that has `_async`. Raises GenerationFailed."""
    _install()
    core, sync = package / "_generated", package / "_sync"
    shutil.rmtree(core, ignore_errors=True)
    shutil.rmtree(sync, ignore_errors=True)
    run(
        _tool("openapi-python-client"), "generate", "--path", DOCUMENT, "--meta", "none",
        "--config", HERE / "python_client.yaml", "--custom-template-path", HERE / "python_templates",
        "--output-path", core, "--overwrite", "--fail-on-warning",
    )  # fmt: skip
    files = sorted((package / "_async").glob("*.py"))
    run(_tool("python"), "-c", _UNASYNC, f"{package / '_async'}/", f"{sync}/", json.dumps(_SYNC_NAMES), *files)
    ruff = (sys.executable, "-m", "ruff")
    style: tuple[str | Path, ...] = ("--isolated", "--no-cache", "--line-length", "120", core, sync)
    run(*ruff, "check", "--quiet", "--fix", "--select", "F401,I", *style)
    run(*ruff, "format", "--quiet", *style)
    (core / MADE_FROM).write_text(state(package))


def state(package: Path) -> str:
    """Return the digests of what the generated parts are made from, and of these parts as they are."""
    sources = [DOCUMENT, *HERE.rglob("*.yaml"), *HERE.rglob("*.jinja"), *(package / "_async").glob("*.py")]
    made = [*(package / "_generated").rglob("*.py"), *(package / "_sync").glob("*.py")]
    return f"from {_digest(sources)}\nmade {_digest(made)}\n"


def _digest(files: Iterable[Path]) -> str:
    whole = hashlib.sha256()
    for file in sorted(files):
        whole.update(f"{file.relative_to(PROJECT)}\n".encode() + file.read_bytes())
    return whole.hexdigest()


def _install() -> None:
    marker = TOOLS / "installed.txt"
    if marker.is_file() and marker.read_text() == "\n".join(PACKAGES):
        return
    shutil.rmtree(TOOLS, ignore_errors=True)
    print("clients: installing the generators in .local/clients", flush=True)
    venv.create(TOOLS / "venv", with_pip=True)
    run(_tool("python"), "-m", "pip", "install", "--quiet", *PACKAGES)
    marker.write_text("\n".join(PACKAGES))


def _tool(name: str) -> Path:
    return TOOLS / "venv" / "bin" / name
