"""The program of PgBouncer: the system's, or else Debian's package, unpacked next to PostgreSQL's programs.

No package of PyPI carries the program (the one of its name is a test fixture that needs it). On other systems without
it the stack runs with direct connections (infra.local.stack).
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from gpu_workers.engine.models.weights import cache_dir
from infra.local import postgres_installation
from infra.local.child_process import Account
from infra.local.errors import NotInstalled

_PACKAGES = ("pgbouncer", "libc-ares2", "libevent-2.1-7")
"""The package, and what it needs besides the libraries of every Debian system with Python."""
_TIMEOUT_S = 180


def find(user: Account | None, cache: Path | None = None) -> tuple[Path, Path | None]:
    """Return the program and the folder of its libraries, None for the system's. Raises NotInstalled.

    user: who runs it, None for the caller. cache: folder for what the caller alone runs; by default the product's.
    """
    for name in ("pgbouncer", "/usr/sbin/pgbouncer"):
        if path := shutil.which(name):
            return Path(path), None
    folder = postgres_installation.shared("programs") / "pgbouncer" if user else (cache or cache_dir()) / "pgbouncer"
    if not _program(folder).exists():
        _unpack(folder)
    return _program(folder), next((folder / "usr" / "lib").glob("*-linux-gnu*"), None)


def _program(folder: Path) -> Path:
    return folder / "usr" / "sbin" / "pgbouncer"


def _unpack(folder: Path) -> None:
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise NotInstalled("no pgbouncer: install it with the system's packages")
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    lists = fresh / "apt"
    (lists / "lists" / "partial").mkdir(parents=True)
    (lists / "archives" / "partial").mkdir(parents=True)
    own = ["-o", f"Dir::State::lists={lists / 'lists'}", "-o", f"Dir::Cache={lists}", "-o", "APT::Sandbox::User="]
    try:
        # With lists of its own, so that it needs neither root nor an up-to-date system.
        for command in (["update"], ["download", *_PACKAGES]):
            subprocess.run(
                ["apt-get", "-qq", *own, *command],
                cwd=fresh,
                check=True,
                capture_output=True,
                text=True,
                timeout=_TIMEOUT_S,
            )
        for package in fresh.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", str(package), str(fresh)], check=True, capture_output=True, text=True)
            package.unlink()
    except (subprocess.SubprocessError, OSError) as error:
        said = getattr(error, "stderr", "") or str(error)
        shutil.rmtree(fresh, ignore_errors=True)
        raise NotInstalled(f"no pgbouncer, and Debian's package cannot be had: {said[-500:]}") from error
    shutil.rmtree(lists)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.chmod(0o755)
    fresh.rename(folder)
