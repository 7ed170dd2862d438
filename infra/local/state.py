"""The state that a stack keeps between starts: secrets, ports, paths and its processes, in one 0600 file."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import secrets
from pathlib import Path
from typing import IO

from infra.local.child_process import Identity
from infra.local.errors import AlreadyRunning


class State:
    """``<root>/state.json``. Every setter writes the file at once, atomically."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / "state.json"
        self._lock: IO[str] | None = None
        self._secrets: dict[str, str] = {}
        self._ports: dict[str, int] = {}
        self._paths: dict[str, str] = {}
        self._done: list[str] = []
        self._processes: dict[str, dict[str, int]] = {}
        self.reload()

    def reload(self) -> None:
        """Read the file again; an absent file is an empty state."""
        try:
            raw = json.loads(self.path.read_text())
        except FileNotFoundError:
            return
        self._secrets, self._ports = raw["secrets"], raw["ports"]
        self._paths, self._done, self._processes = raw["paths"], raw["done"], raw["processes"]

    def lock(self) -> None:
        """Hold the root for this process until unlock() or its end. Raises AlreadyRunning."""
        self.root.mkdir(parents=True, exist_ok=True)
        lock = (self.root / "lock").open("a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.close()
            raise AlreadyRunning(f"a stack already runs in {self.root}; stop it first (make down)") from error
        self._lock = lock
        self.reload()

    @property
    def locked(self) -> bool:
        """Whether this object holds the root."""
        return self._lock is not None

    def unlock(self) -> None:
        """Let others use the root."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def secret(self, name: str) -> str:
        """Return a random secret that stays the same for this root; 32 bytes, URL-safe."""
        if name not in self._secrets:
            self._secrets[name] = secrets.token_urlsafe(32)
            self._write()
        return self._secrets[name]

    def secret_hex(self, name: str) -> str:
        """Return the same secret as 64 hexadecimal digits."""
        return _bytes(self.secret(name)).hex()

    def secret_fernet(self, name: str) -> str:
        """Return the same secret as a Fernet key."""
        return base64.urlsafe_b64encode(_bytes(self.secret(name))).decode()

    def port(self, name: str) -> int | None:
        """Return the port that ``name`` had at the last start."""
        return self._ports.get(name)

    def ports(self) -> set[int]:
        """Return the ports under all names."""
        return set(self._ports.values())

    def port_names(self) -> set[str]:
        """Return the names of all remembered ports."""
        return set(self._ports)

    def set_port(self, name: str, port: int | None) -> None:
        """Remember, or with None forget, the port of ``name``."""
        if port is None:
            self._ports.pop(name, None)
        else:
            self._ports[name] = port
        self._write()

    def location(self, name: str) -> Path | None:
        """Return a folder outside the root that belongs to this stack."""
        return Path(self._paths[name]) if name in self._paths else None

    def set_location(self, name: str, path: Path | None) -> None:
        """Remember, or with None forget, a folder outside the root."""
        if path is None:
            self._paths.pop(name, None)
        else:
            self._paths[name] = str(path)
        self._write()

    def is_done(self, step: str) -> bool:
        """Whether a step that happens once per root has happened."""
        return step in self._done

    def set_done(self, step: str) -> None:
        """Record a step that happens once per root."""
        self._done.append(step)
        self._write()

    def processes(self) -> dict[str, Identity]:
        """Return all processes that were started and not yet recorded as stopped, in the order of starting."""
        return {name: Identity(entry["pid"], entry["started"]) for name, entry in self._processes.items()}

    def set_process(self, name: str, identity: Identity | None) -> None:
        """Record a started process, or with None its end."""
        if identity is None:
            self._processes.pop(name, None)
        else:
            self._processes[name] = {"pid": identity.pid, "started": identity.started}
        self._write()

    def _write(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        content = {
            "secrets": self._secrets,
            "ports": self._ports,
            "paths": self._paths,
            "done": self._done,
            "processes": self._processes,
        }
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as out:
            json.dump(content, out, indent=1)
        fresh.replace(self.path)


def _bytes(secret: str) -> bytes:
    return base64.urlsafe_b64decode(secret + "=" * (-len(secret) % 4))
