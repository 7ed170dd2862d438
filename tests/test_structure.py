"""The plan of the house: which way imports point."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import grimp
import pytest
from importlinter import api as importlinter
from importlinter.application.use_cases import read_user_options
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract
from importlinter.domain.contract import Contract

ROOT = Path(__file__).parents[1]
Node = TypeVar("Node", bound=ast.AST)


def contract(name: str) -> Contract:
    """The contract of pyproject.toml whose name begins so."""
    options = importlinter.read_configuration(str(ROOT / "pyproject.toml"))
    (found,) = [one for one in options["contracts_options"] if one["name"].startswith(name)]
    kind = {"layers": LayersContract, "forbidden": ForbiddenContract}[found["type"]]
    return kind(found["name"], options["session_options"], found)


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    packages = read_user_options(str(ROOT / "pyproject.toml")).session_options["root_packages"]
    return grimp.build_graph(*packages, include_external_packages=True, cache_dir=None)


@pytest.mark.parametrize(
    ("name", "importer", "imported"),
    [
        ("Three floors", "backend.library.queries", "workers.runner"),
        ("Three floors", "workers.runner", "gpu_workers.tasks.models"),
        ("Three floors", "gpu_workers.engine.ports", "backend.jobs.models"),
        ("The engine imports no framework", "gpu_workers.engine.memory_graph", "django"),
        ("Inside the engine", "gpu_workers.engine.models.roles", "gpu_workers.engine.indexing.assembly"),
        ("The apps of the backend", "backend.jobs.services", "backend.library.models"),
        ("The apps of the backend", "backend.webhooks.payloads", "backend.questions.models"),
        ("The apps of the backend", "backend.tenancy.services", "backend.api.problems"),
        ("Inside an app", "backend.library.queries", "backend.library.services.videos"),
        ("The backend imports no Celery", "backend.jobs.services", "celery"),
        ("Nothing in the product", "workers.runner", "infra.local.stack"),
    ],
)
def test_a_contract_holds_and_an_import_in_the_wrong_direction_breaks_it(
    imports: grimp.ImportGraph, name: str, importer: str, imported: str
) -> None:
    checked = contract(name)
    assert checked.check(imports, verbose=False).kept

    imports.add_import(importer=importer, imported=imported)
    try:
        assert not checked.check(imports, verbose=False).kept
    finally:
        imports.remove_import(importer=importer, imported=imported)


def arrows_between(imports: grimp.ImportGraph, root: str, *, depth: int | None) -> dict[str, set[str]]:
    """Return what imports what below a package: its modules, or its folders and files at a depth below the root."""

    def part(module: str) -> str:
        return module if depth is None else ".".join(module.split(".")[: root.count(".") + 1 + depth])

    below = {module for module in imports.modules if module == root or module.startswith(f"{root}.")}
    found: dict[str, set[str]] = {part(module): set() for module in below}
    for importer in below:
        ends = {part(imported) for imported in imports.find_modules_directly_imported_by(importer) & below}
        found[part(importer)] |= ends - {part(importer)}
    return found


def circles(arrows: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the arrows that lie in a circle, or between two circles."""
    while True:
        tips = {end for ends in arrows.values() for end in ends}
        left = {begin: ends & arrows.keys() for begin, ends in arrows.items() if ends & arrows.keys() and begin in tips}
        if left == arrows:
            return left
        arrows = left


WITHOUT_CIRCLES = (
    "backend", "workers", "gpu_workers.tasks", "gpu_workers.engine.answering", "gpu_workers.engine.indexing",
    "gpu_workers.engine.languages",
    "gpu_workers.engine.memory_graph", "gpu_workers.engine.models", "gpu_workers.engine.prompts",
    "gpu_workers.engine.retrieval",
)  # fmt: skip


@pytest.mark.parametrize("root", WITHOUT_CIRCLES)
def test_no_two_modules_import_each_other_in_a_circle(imports: grimp.ImportGraph, root: str) -> None:
    """Imports inside functions and for types count as well."""
    assert circles(arrows_between(imports, root, depth=None)) == {}


@pytest.mark.parametrize("root", [root for root in WITHOUT_CIRCLES if root.startswith("gpu_workers.engine.")])
def test_no_two_folders_of_the_engine_import_each_other_in_a_circle(imports: grimp.ImportGraph, root: str) -> None:
    """Folders at any depth, with the files next to them."""
    packages = [module for module in imports.modules if f"{module}.".startswith(f"{root}.")]
    for package in packages:
        if imports.find_children(package):
            inner = arrows_between(imports, package, depth=1)
            # A package's own __init__ may gather what its modules offer.
            assert circles({part: ends - {package} for part, ends in inner.items() if part != package}) == {}


MOST_PARAMETERS = 8


def test_no_function_of_the_answering_engine_takes_many_parameters() -> None:
    """A frozen object holds what belongs together. `ask` has the shape of a chat model's own call."""
    many = {
        f"{path.stem}.{node.name}"
        for path, node in _definitions(ast.FunctionDef)
        if len(own_parameters(node)) > MOST_PARAMETERS
    }
    assert many == {"calls.ask"}


def own_parameters(function: ast.FunctionDef) -> list[str]:
    """Return the names of a function's parameters without self and cls."""
    named = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return [each.arg for each in named if each.arg not in ("self", "cls")]


def test_a_class_name_stands_once_in_the_answering_engine() -> None:
    places: dict[str, list[str]] = {}
    for path, node in _definitions(ast.ClassDef):
        places.setdefault(node.name, []).append(path.name)
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def _definitions(kind: type[Node]) -> Iterator[tuple[Path, Node]]:
    for path in sorted(Path("gpu_workers/engine/answering").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kind):
                yield path, node


LEAVES = {"catalogue", "contract", "presets", "scan_price", "understood"}
"""Modules of the answering engine that the API process loads."""


def test_the_api_process_loads_no_method_and_no_search_of_the_engine() -> None:
    code = (
        "import os, sys, django; os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'backend.settings'); django.setup();"
        "import backend.urls; print(*sorted(m for m in sys.modules if m.startswith('gpu_workers.engine.answering.')))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    loaded = {name.removeprefix("gpu_workers.engine.answering.") for name in ran.stdout.split()}
    assert loaded <= LEAVES, loaded - LEAVES


def test_a_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {"b": {"c"}, "c": {"b"}}


def test_no_two_packages_import_each_other_in_a_circle(imports: grimp.ImportGraph) -> None:
    """Packages: the apps of the backend, the rooms of the engine, workers and tasks."""
    arrows: dict[str, set[str]] = {}
    for importer in imports.modules:
        for imported in imports.find_modules_directly_imported_by(importer):
            begin, end = package_of(importer), package_of(imported)
            if begin and end and begin != end:
                arrows.setdefault(begin, set()).add(end)

    assert circles(arrows) == {}


def package_of(module: str) -> str | None:
    parts = module.split(".")
    if parts[0] == "workers":
        return "workers"
    if parts[:2] == ["gpu_workers", "engine"]:
        return ".".join(parts[:3])
    if parts[0] in ("backend", "gpu_workers"):
        return ".".join(parts[:2])
    return None
