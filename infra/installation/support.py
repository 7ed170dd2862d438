"""What an operator looks at first, and a file for whoever helps: no secrets, and nothing that customers wrote."""

from __future__ import annotations

import io
import json
import platform
import re
import tarfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from infra.installation import backups
from infra.installation.composing import Installation
from infra.release.version import VERSION

LOG_LINES = 300
"""Last lines of each service."""
SHOWN = frozenset({
    "AVA_VERSION", "AVA_FORMER_VERSION", "AVA_REGISTRY", "AVA_PORT", "AVA_CONSOLE_PORT", "AVA_NETWORK", "MODEL_PRESET",
    "COMPOSE_PROFILES", "REASONER_MODEL", "DESCRIBER_MODEL", "CHECKER_MODEL", "TEXT_EMBEDDER_MODEL", "RERANKER_MODEL",
    "FRAME_EMBEDDER_MODEL", "TOKEN_EMBEDDER_MODEL", "ENTAILER_MODEL", "AVA_LOG_LEVEL", "AVA_DEBUG", "INDEX_SEGMENTS",
    "QUERY_QUESTIONS", "MODEL_SERVER_MEMORY", "POSTGRES_MEMORY", "POSTGRES_SHARED_BUFFERS", "INDEX_MEMORY",
    "QUERY_MEMORY", "AVA_JOBS_PER_TENANT", "AVA_KEEP_RENDITIONS", "AVA_LEASE_SECONDS", "WAL_ARCHIVE_DAYS",
})  # fmt: skip
"""Settings whose values are shown. The bundle says of every other one only that it is set."""
FIELDS = ("time", "level", "logger", "kind", "attempt", "method", "route", "status", "ms", "reason")
"""Fields of our own log lines that hold nothing of customers; ids, addresses and texts are left out."""
_FRAME = re.compile(r'^  File "([^"]+)", line (\d+), in (\S+)$', flags=re.M)
_PLACE = re.compile(r"^(\S+\s+\|\s)")
_QUEUE = re.compile(r"^(?:[a-z]+\.[a-z]+: \d+ wait, \d+ runs?|\S+ is away since .{19})", flags=re.M)


def status(own: Installation) -> list[str]:
    """Return what runs, in lines."""
    lines = [f"version {own.version}, before that {own.former or 'none'}; this folder holds {VERSION}"]
    found = services(own)
    sick = [name for name, state in found.items() if state not in ("running", "running (healthy)")]
    lines.append(f"{len(found)} containers, {len(sick)} of them not healthy: {', '.join(sick) or 'none'}")
    lines += queues(own)
    target = own.values.get("AVA_BACKUP_TO", "")
    if target.startswith("s3://"):
        return [*lines, f"backups go to {target}"]
    made = backups.newest(target) if target else None
    if made is None:
        return [*lines, "THERE IS NO BACKUP: infra/ava-admin backup --to FOLDER (docs/runbooks/one-host.md#back-up)"]
    hours = (time.time() - made.timestamp()) / 3600
    return [*lines, f"newest backup in {target}: {hours:.0f} hours old" + (", TOO OLD" if hours > 30 else "")]


def services(own: Installation) -> dict[str, str]:
    """Return state and health of each container, by its name."""
    found = {}
    for line in own.output("ps", "--all", "--format", "json").splitlines():
        if line.startswith("{"):
            one = json.loads(line)
            health = f" ({one['Health']})" if one.get("Health") else ""
            # provision and migrate end, as they should.
            if (one["State"], one.get("ExitCode")) != ("exited", 0):
                found[one["Name"]] = f"{one['State']}{health}"
    return found


def queues(own: Installation) -> list[str]:
    """Return how many jobs wait and run in each class, and which dependencies are away."""
    said = own.output("exec", "-T", "console", "python", "manage.py", "queue", "--limit", "0")
    return [found[0] for found in _QUEUE.finditer(said)]


def write_bundle(own: Installation, file: Path) -> None:
    """Write the file, which only its owner may read."""
    parts = {
        "versions.txt": [f"installed {own.version}", f"before {own.former}", f"folder {VERSION}", platform.platform()],
        "settings.txt": shown_settings(own.values),
        "services.txt": [f"{name}: {state}" for name, state in services(own).items()],
        "queues.txt": queues(own),
        "logs.txt": list(safe_lines(own.output("logs", "--no-color", "--tail", str(LOG_LINES)).splitlines())),
    }
    file.unlink(missing_ok=True)
    file.touch(mode=0o600)
    with tarfile.open(file, "w:gz") as archive:
        for name, lines in parts.items():
            # An allowed field may still repeat a secret, so what .env holds is looked for everywhere.
            content = without(own.values, "\n".join(lines) + "\n").encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def shown_settings(values: dict[str, str]) -> list[str]:
    """Return the settings of .env by name; values of listed names alone."""
    return [f"{name}={value}" if name in SHOWN else f"{name} is set" for name, value in sorted(values.items())]


def safe_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield the parts of log lines that cannot hold customers' data: fields of ours, and where an error was raised.

    Programs of others write what they like, so of their lines only the service and the level are kept.
    """
    for line in lines:
        found = _PLACE.match(line)
        place, text = (found[1], line[found.end() :]) if found else ("", line)
        try:
            fields = json.loads(text)
        except ValueError:
            fields = None
        if not isinstance(fields, dict):
            level = re.search(r"\b(FATAL|PANIC|ERROR|WARNING|WARN|CRITICAL)\b", text, flags=re.I)
            if level:
                yield f"{place}{level[1]} (text left out)"
            continue
        kept = {name: fields[name] for name in FIELDS if isinstance(fields.get(name), str | int | float)}
        raised = _FRAME.findall(str(fields.get("exc_info", "")))
        if raised:
            kept["raised_at"] = [f"{Path(file).name}:{number} {function}" for file, number, function in raised[-5:]]
        yield f"{place}{json.dumps(kept)}"


def without(values: dict[str, str], text: str) -> str:
    """Return a text without the values of settings that are not shown, however they got there."""
    hidden = {part for name, value in values.items() if name not in SHOWN for part in (value, value.partition(":")[2])}
    for secret in sorted((each for each in hidden if len(each) >= 8), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text
