"""A process gives up everything that decoding does not need, and cannot take it back."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from gpu_workers.engine.indexing.box import landlock, syscalls

FIRST_USER = 1_900_000_000
"""User ids from here on belong to boxes: each box of a privileged parent gets one of its own."""

_NEW_NAMESPACES = 0x10000000 | 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
"""User, mount, cgroup, UTS, IPC, PID and network."""
_PDEATHSIG, _SET_DUMPABLE, _NO_NEW_PRIVS = 1, 4, 38
_CAPABILITIES_V3 = 0x20080522
_THREADS = 64

_DEVICE_PATHS: dict[Path | int, int] = {
    **dict.fromkeys(
        map(Path, ("/usr", "/lib", "/lib64", "/etc/ld.so.cache")),
        landlock.READ | landlock.READ_FOLDER | landlock.EXECUTE,
    ),
    **dict.fromkeys(
        map(Path, ("/sys/devices", "/sys/bus", "/proc/driver", "/proc/cpuinfo", "/proc/modules")),
        landlock.READ | landlock.READ_FOLDER,
    ),
    Path(sys.prefix): landlock.READ | landlock.READ_FOLDER | landlock.EXECUTE,
    Path("/proc/self/maps"): landlock.READ,
    # It gives its threads names.
    Path("/proc/self/task"): landlock.READ | landlock.READ_FOLDER | landlock.WRITE | landlock.TRUNCATE,
}
"""Paths that the driver of a graphics device needs."""
_DEVICE_FILES = 64
"""Descriptors that a box with a graphics device may have; the driver opens more than 32."""

_LIBRARIES = (Path("/usr/lib"), Path("/usr/lib64"), Path("/lib"), Path("/lib64"), Path("/etc/ld.so.cache"))
_FOLDER_RIGHTS = (
    landlock.READ | landlock.READ_FOLDER | landlock.WRITE | landlock.MAKE_FILE | landlock.REMOVE_FILE
    | landlock.TRUNCATE
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class BoxLimits:
    """cpu_s: CPU time of all threads. memory_bytes: address space; a graphics device ignores it. files: descriptors.

    file_bytes: size of each file that a program writes.
    """

    cpu_s: int = 60
    memory_bytes: int = 4 * 2**30
    files: int = 32
    file_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ProgramFiles:
    """What a box may open that becomes a program. binary, folder: descriptors of the program and of the folder that it
    reads and writes. readable: other paths that it reads."""

    binary: int
    folder: int
    readable: tuple[str, ...] = ()

    def allowed(self) -> dict[Path | int, int]:
        """Return the rights that Landlock leaves: libraries can be read, and only the program and its loader run."""
        read = landlock.READ | landlock.READ_FOLDER
        loaders = [Path(folder).glob("ld-linux*") for folder in ("/lib64", "/lib", "/lib/x86_64-linux-gnu")]
        return {
            **dict.fromkeys(_LIBRARIES, read),
            **dict.fromkeys(map(Path, self.readable), read),
            **{loader.resolve(): landlock.READ | landlock.EXECUTE for loaders_of in loaders for loader in loaders_of},
            self.binary: landlock.READ | landlock.EXECUTE,
            self.folder: _FOLDER_RIGHTS,
        }


_libc = ctypes.CDLL(None, use_errno=True)
# Arguments have the kernel's width, and signatures are set before files are out of reach.
_libc.syscall.restype = ctypes.c_long
_libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
_libc.unshare.argtypes = [ctypes.c_int]


def die_before_the_worker() -> None:
    """Let the kernel end this process first when memory runs out. To be called before the user changes."""
    Path("/proc/self/oom_score_adj").write_text("1000")


def take_own_user() -> bool:
    """Become a user that owns nothing and that no other process has. Returns False without the right to do so."""
    own = FIRST_USER + os.getpid()
    try:
        os.setgroups([])
        os.setresgid(own, own, own)
        os.setresuid(own, own, own)
    except OSError:
        return False
    return True


def enter_namespaces() -> bool:
    """Give the processes that this process forks a network, process ids, mounts and users of their own.

    Returns False if the host does not allow it to this user.
    """
    return bool(_libc.unshare(_NEW_NAMESPACES) == 0)


def die_with_parent(parent: int) -> None:
    """Be killed when the parent ends. parent: its process id, 0 if it lies outside the process's namespace."""
    _libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def lock(
    limits: BoxLimits, *, empty: int, alone: bool, device: bool, program: ProgramFiles | None = None
) -> tuple[str, ...]:
    """Give up files, network, other processes, privileges and all system calls but those of decoding.

    empty: descriptor of an empty folder, which becomes the root where that is allowed. alone: whether no other process
    has this user, so that the number of its threads can be limited. device: whether a graphics device is used; then
    memory has no limit, the driver's files stay in reach, and system calls are refused by a list instead of allowed
    by one. program: what a process may open that becomes a program. Returns the names of the layers that hold beyond
    the limits. Raises FilterMissing: without a filter of system calls nothing is decoded, and without Landlock nothing
    in a box that may open files.
    """
    seccomp, layers = syscalls.library(), []
    if not device and program is None and _change_root(empty):
        layers.append("root")
    os.close(empty)
    files = max(limits.files, _DEVICE_FILES) if device else limits.files
    limit = [(resource.RLIMIT_CPU, limits.cpu_s), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, files)]
    if not device:
        limit += [(resource.RLIMIT_AS, limits.memory_bytes), (resource.RLIMIT_FSIZE, limits.file_bytes)]
        limit += [(resource.RLIMIT_NPROC, _THREADS)] if alone else []
    for name, value in limit:
        resource.setrlimit(name, (value, value))
    _drop_capabilities()
    _libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0)
    _libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    if landlock.restrict(_libc, _device_paths() if device else program.allowed() if program is not None else {}):
        layers.append("landlock")
    elif device or program is not None:
        raise syscalls.FilterMissing("the kernel has no Landlock")
    syscalls.restrict(seccomp, device=device, program=program is not None)
    return (*layers, "syscalls")


def _device_paths() -> dict[Path | int, int]:
    devices: dict[Path | int, int] = dict.fromkeys(
        Path("/dev").glob("nvidia*"), landlock.READ | landlock.WRITE | landlock.DEVICE_CONTROL
    )
    return {**_DEVICE_PATHS, **devices}


def _change_root(empty: int) -> bool:
    try:
        os.fchdir(empty)
        os.chroot(".")
    except OSError:
        return False
    return True


def _drop_capabilities() -> None:
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
    _libc.capset(header, (ctypes.c_uint32 * 6)())
