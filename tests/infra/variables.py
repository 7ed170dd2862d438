"""The environment variables that the code reads: found in the source, or recorded while settings are read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from gpu_workers.engine.models.model_table import table
from gpu_workers.engine.models.package_index import PackageIndex
from gpu_workers.engine.models.served.vllm_server import settings_of
from gpu_workers.engine.models.settings import ModelSettings
from tests.infra.conftest import ROOT

NAME = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
LOCAL_ONLY = frozenset(
    {
        "DJANGO_SETTINGS_MODULE",
        "DATABASE_SUPERUSER_URL",
        "DATABASE_METRICS_URL",
        "DATABASE_REPLICATION_URL",
        "HF_HUB_DISABLE_PROGRESS_BARS",
        "VLLM_API_KEY",
    }
)
"""Variables that no operator sets for a running service: an image or the launcher sets them, or one command."""
OTHER_NAMES = frozenset(
    {
        "HOME",
        "XDG_CONFIG_HOME",
        "SSL_CERT_FILE",
        "UV_DEFAULT_INDEX",
        "UV_EXTRA_INDEX_URL",
        "UV_FIND_LINKS",
        "UV_INDEX",
        "UV_INDEX_URL",
        "UV_NO_INDEX",
    }
)
"""Variables of the machine, and those of uv that say what a listed variable of pip says."""
SERVER = Path("gpu_workers/engine/models/served")


class Recorder(dict[str, str]):
    """An environment without values, or with a few, that records every name that is asked for."""

    def __init__(self, values: dict[str, str] | None = None) -> None:
        super().__init__(values or {})
        self.asked: set[str] = set()

    def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]
        self.asked.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)


@cache
def backend_variables() -> frozenset[str]:
    """Return the variables that the API, the relay and every worker read."""
    return frozenset((_literal("backend") | _literal("workers")) - OTHER_NAMES)


def jobs_per_tenant() -> dict[str, int]:
    """Return how many jobs of a class one tenant may run at once by default, by queue."""
    found = re.search(r'"AVA_JOBS_PER_TENANT", "([^"]+)"', (ROOT / "backend" / "settings.py").read_text())
    assert found is not None
    return {queue: int(cap) for queue, _, cap in (entry.partition("=") for entry in found[1].split(","))}


@cache
def model_variables() -> frozenset[str]:
    """Return the variables of the workers that ask models."""
    # A URL for each role, because some values are read only next to one.
    roles = Recorder({f"{role}_URL": "http://a/v1" for role in ("CHECKER", "DESCRIBER", "REASONER")})
    plain = Recorder()
    ModelSettings.from_env(roles)
    ModelSettings.from_env(plain)
    index = Recorder()
    PackageIndex.configured(index)
    return frozenset((roles.asked | plain.asked | index.asked | _literal("gpu_workers", without=SERVER)) - OTHER_NAMES)


@cache
def server_variables() -> frozenset[str]:
    """Return the variables of a model server's launcher."""
    asked: set[str] = set()
    for preset in table().presets.values():
        for server in preset.servers:
            env = Recorder({"MODEL_PRESET": preset.name})
            settings_of(server, {}, env)
            asked |= env.asked
    return frozenset(asked | {name for path in (ROOT / SERVER).glob("*.py") for name in _names(path)})


@cache
def local_variables() -> frozenset[str]:
    """Return the variables that only the local stack reads."""
    return frozenset(_literal("infra/local") - _literal("backend"))


def _literal(package: str, *, without: Path | None = None) -> set[str]:
    files = (path for path in (ROOT / package).rglob("*.py"))
    return {name for path in files if not (without and path.is_relative_to(ROOT / without)) for name in _names(path)}


def _names(path: Path) -> Iterator[str]:
    """Yield the names in reads of an environment: env.text("X"), env.get("X"), os.environ["X"], f(env, "X")."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Subscript) and _is_environment(node.value):
            candidates: list[ast.expr] = [node.slice]
        elif isinstance(node, ast.Call):
            of_environment = isinstance(node.func, ast.Attribute) and _is_environment(node.func.value)
            handed_on = any(_is_environment(argument) for argument in node.args)
            own_reader = isinstance(node.func, ast.Attribute) and node.func.attr in ("_number", "integer", "text")
            candidates = list(node.args[:2]) if of_environment or handed_on or own_reader else []
        else:
            continue
        for candidate in candidates:
            value = candidate.value if isinstance(candidate, ast.Constant) else None
            if isinstance(value, str) and NAME.fullmatch(value):
                yield value


def _is_environment(node: ast.expr) -> bool:
    return (isinstance(node, ast.Name) and node.id in ("env", "environ")) or (
        isinstance(node, ast.Attribute) and node.attr in ("environ", "_environ")
    )
