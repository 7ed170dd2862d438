"""``python -m infra.web_lint`` checks the sizes, the directions of styles, the translations and the types of web/.

The tools are installed in .local/web-lint, with the versions below. Node.js with npm must be on the PATH.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
TOOLS = PROJECT / ".local" / "web-lint"
PACKAGES = ("typescript@5.9.3", "lit@3.3.3", "lit-html@3.3.2", "lit-element@4.2.2", "@lit/reactive-element@2.1.1",
            "intl-messageformat@10.7.18")  # fmt: skip
_PATIENCE = ("--fetch-retries=1", "--fetch-timeout=20000", "--fetch-retry-maxtimeout=5000")
MOST_LINES, MOST_LINES_IN_ALL = 300, 9_000
_SIDED = re.compile(r"(?<![-\w])(?:(?:margin|padding|border)-)?(?:left|right)\s*:|text-align:\s*(?:left|right)\b")


class LintFailed(Exception):
    """A check of the web app failed. The message says why."""


def main() -> int:
    """Check sizes, directions, translations and types. Returns the exit status."""
    try:
        lines = sizes()
        directions()
        sentences()
        install()
        types()
    except LintFailed as error:
        print(f"lint-web: ERROR {error}", file=sys.stderr)
        return 1
    print(f"lint-web: {len(lines)} files with {sum(lines.values())} lines, no error of types")
    return 0


def sizes() -> dict[str, int]:
    """Return the lines of each file of ours. Raises LintFailed if one or all of them have too many."""
    web = PROJECT / "web"
    files = [path for path in sorted(web.rglob("*")) if path.suffix in {".js", ".css"} and "vendor" not in path.parts]
    lines = {str(path.relative_to(PROJECT)): len(path.read_text().splitlines()) for path in files}
    long = [f"{name} has {count} lines" for name, count in lines.items() if count > MOST_LINES]
    if long or sum(lines.values()) > MOST_LINES_IN_ALL:
        raise LintFailed("; ".join(long) or f"web/ has {sum(lines.values())} lines, more than {MOST_LINES_IN_ALL}")
    return lines


def directions() -> None:
    """Check that no style says left or right, which a script from right to left would change. Raises LintFailed."""
    for sheet in sorted((PROJECT / "web").rglob("*.css")):
        said = _SIDED.search(sheet.read_text())
        if said:
            raise LintFailed(f"{sheet.name} says {said[0].strip()}: write inline-start or inline-end")


def sentences() -> None:
    """Check that every sentence of the app is translated. Raises LintFailed."""
    _run(_found("node"), "--experimental-default-type=module", str(HERE / "sentences.mjs"))


def install() -> None:
    """Install the tools where they lack. Raises LintFailed."""
    npm = _found("npm")
    TOOLS.mkdir(parents=True, exist_ok=True)
    wanted = json.dumps({"private": True, "dependencies": dict(each.rsplit("@", 1) for each in PACKAGES)})
    listed = TOOLS / "package.json"
    if not listed.is_file() or listed.read_text() != wanted or not (TOOLS / "node_modules").is_dir():
        listed.write_text(wanted)
        try:
            _run(npm, "install", "--no-audit", "--no-fund", "--silent", *_PATIENCE, "--prefix", str(TOOLS))
        except LintFailed:
            listed.unlink()
            raise


def types() -> None:
    """Check all types with the installed tools. Raises LintFailed."""
    compiler = TOOLS / "node_modules" / "typescript" / "bin" / "tsc"
    _run(_found("node"), str(compiler), "--project", str(HERE / "tsconfig.json"))


def _found(tool: str) -> str:
    path = shutil.which(tool)
    if path is None:
        raise LintFailed(f"{tool} is not on the PATH; install Node.js 20 or later")
    return path


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False, timeout=120)
    except subprocess.TimeoutExpired as error:
        raise LintFailed(f"{Path(command[0]).name} took more than two minutes") from error
    if done.returncode:
        raise LintFailed(f"{Path(command[0]).name} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
