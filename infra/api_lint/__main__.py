"""``python -m infra.api_lint`` lints the OpenAPI document and generates a Python and a TypeScript client.

The tools are installed in .local/api-lint, with the versions below. Node.js with npm must be on the PATH.
"""

from __future__ import annotations

import compileall
import json
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

_PROJECT = Path(__file__).resolve().parents[2]
_HERE = Path(__file__).resolve().parent
DOCUMENT = _PROJECT / "frontend_api_schema" / "openapi.yaml"
TOOLS = _PROJECT / ".local" / "api-lint"
NPM_PACKAGES = ("@redocly/cli@2.77.0", "openapi-typescript@7.13.0", "typescript@5.9.3")
PYTHON_PACKAGES = ("openapi-python-client==0.29.1",)
TYPESCRIPT = {"compilerOptions": {"strict": True, "noEmit": True, "target": "es2022", "types": []}}
_METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})
_TYPESCRIPT_OPERATION = re.compile(r"^    (\w+): \{$", re.MULTILINE)


class LintFailed(Exception):
    """A tool found an error, or a generator left an operation out. The message says which."""


def main() -> int:
    """Install the tools if they are missing, lint, generate. Returns the exit status."""
    try:
        _install()
        _run("redocly lint", _npm("redocly"), "lint", "--config", _HERE / "redocly.yaml", DOCUMENT)
        document = yaml.safe_load(DOCUMENT.read_text())
        wanted = operation_ids(document)
        received = {each["post"]["operationId"] for each in document["webhooks"].values()}
        _compare("openapi-typescript", wanted | received, _typescript_operations())
        _compare("openapi-python-client", {_snake_case(name) for name in wanted}, _python_operations())
    except LintFailed as error:
        print(f"lint-api: ERROR {error}", file=sys.stderr)
        return 1
    print(f"lint-api: {len(wanted)} operations, no error; both generators made all of them")
    return 0


def operation_ids(document: dict[str, Any]) -> set[str]:
    """Return the ids of the operations of an OpenAPI document. Raises LintFailed if two are equal."""
    found = [
        operation["operationId"]
        for operations in document["paths"].values()
        for method, operation in operations.items()
        if method in _METHODS
    ]
    if len(set(found)) != len(found):
        raise LintFailed("two operations have the same operationId")
    return set(found)


def typescript_operations(types: str) -> set[str]:
    """Return the operations that a file of openapi-typescript declares."""
    _, _, operations = types.partition("export interface operations {\n")
    return set(_TYPESCRIPT_OPERATION.findall(operations))


def python_operations(package: Path) -> set[str]:
    """Return the operations of a client of openapi-python-client: one module each, under api/<tag>/."""
    return {file.stem for file in package.glob("api/*/*.py") if file.stem != "__init__"}


def _typescript_operations() -> set[str]:
    out = _emptied("typescript")
    _run("openapi-typescript", _npm("openapi-typescript"), DOCUMENT, "--output", out / "api.d.ts")
    shutil.copy(_HERE / "usage.ts", out)
    (out / "tsconfig.json").write_text(json.dumps({**TYPESCRIPT, "files": ["api.d.ts", "usage.ts"]}))
    _run("tsc", _npm("tsc"), "--project", out / "tsconfig.json")
    return typescript_operations((out / "api.d.ts").read_text())


def _python_operations() -> set[str]:
    out = _emptied("python")
    _run(
        "openapi-python-client", _venv("openapi-python-client"), "generate", "--path", DOCUMENT, "--meta", "none",
        "--config", _HERE / "python_client.yaml", "--output-path", out, "--overwrite", "--fail-on-warning",
    )  # fmt: skip
    if not compileall.compile_dir(out, quiet=1):
        raise LintFailed("the generated Python client does not compile")
    return python_operations(out)


def _compare(generator: str, wanted: set[str], made: set[str]) -> None:
    if wanted != made:
        raise LintFailed(f"{generator}: missing {sorted(wanted - made)}, unexpected {sorted(made - wanted)}")


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _install() -> None:
    """Install the tools unless the installed versions are those above."""
    marker, wanted = TOOLS / "installed.json", json.dumps([NPM_PACKAGES, PYTHON_PACKAGES])
    if marker.is_file() and marker.read_text() == wanted:
        return
    npm = shutil.which("npm")
    if npm is None:
        raise LintFailed("npm is not on the PATH; install Node.js 20.19 or later")
    shutil.rmtree(TOOLS, ignore_errors=True)
    TOOLS.mkdir(parents=True)
    print("lint-api: installing the tools in .local/api-lint", flush=True)
    _run("npm", npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--prefix", TOOLS, *NPM_PACKAGES)
    venv.create(TOOLS / "venv", with_pip=True)
    _run("pip", _venv("python"), "-m", "pip", "install", "--quiet", *PYTHON_PACKAGES)
    marker.write_text(wanted)


def _npm(tool: str) -> Path:
    return TOOLS / "node_modules" / ".bin" / tool


def _venv(tool: str) -> Path:
    return TOOLS / "venv" / "bin" / tool


def _emptied(name: str) -> Path:
    folder = TOOLS / "out" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _run(name: str, *command: str | Path) -> None:
    """Run a tool and show its output if it fails. Raises LintFailed."""
    arguments: Sequence[str] = [str(part) for part in command]
    done = subprocess.run(arguments, cwd=_PROJECT, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise LintFailed(f"{name} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
