"""What an attacker does who runs code inside a box. Each function is a job, and runs after the lockdown."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gpu_workers.engine.indexing.box.channel import Channel
from gpu_workers.engine.indexing.box.supplied import Supplied

_libc = ctypes.CDLL(None, use_errno=True)
_SYS = {"open": 2, "socket": 41, "clone3": 435, "openat2": 437, "io_uring_setup": 425, "memfd_create": 319}
"""Numbers of x86-64: an attacker does not go through the C library."""
_AT_FDCWD = -100


def look_around(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    """Try everything in arguments {secret_file, worker, port}; send what each attempt gave, "refused" if it failed."""
    attempts: dict[str, Callable[[], object]] = {
        "environment": lambda: sorted(os.environ),
        "descriptors": open_descriptors,
        "secret file": lambda: Path(arguments["secret_file"]).read_text(),
        "secret file by its number": lambda: call("open", arguments["secret_file"].encode(), 0),
        "passwords": lambda: Path("/etc/passwd").read_text(),
        "existence of a file": lambda: os.stat(arguments["secret_file"]).st_size,
        "root": lambda: os.listdir("/"),
        "temporary file": lambda: Path("/tmp/intruder").write_text("x"),
        "memory file": lambda: call("memfd_create", b"x", 0),
        "processes": lambda: os.listdir("/proc"),
        "environment of the worker": lambda: Path(f"/proc/{arguments['worker']}/environ").read_bytes(),
        "memory of the worker": lambda: os.open(f"/proc/{arguments['worker']}/mem", os.O_RDONLY),
        "signal to the worker": lambda: os.kill(arguments["worker"], 0),
        "signal to all": lambda: os.kill(-1, 0),
        "trace of the worker": lambda: checked(_libc.ptrace(16, arguments["worker"], None, None)),
        "connection": lambda: socket.create_connection(("127.0.0.1", arguments["port"]), timeout=2),
        "metadata service": lambda: socket.create_connection(("169.254.169.254", 80), timeout=2),
        "socket by its number": lambda: call("socket", 2, 1, 0),
        "pair of sockets": socket.socketpair,
        "name server": lambda: socket.getaddrinfo("example.com", 443),
        "program": lambda: os.execv("/bin/true", ["/bin/true"]),
        "process": os.fork,
        "process by its number": lambda: call("clone3", None, 0),
        "file by another call": lambda: call("openat2", _AT_FDCWD, b"/etc/passwd", None, 0),
        "ring": lambda: call("io_uring_setup", 1, None),
        "users": lambda: os.setuid(0),
        "namespaces": lambda: checked(_libc.unshare(0x10000000)),
        "mount": lambda: checked(_libc.mount(b"none", b"/", b"tmpfs", 0, None)),
        "memory that runs": lambda: checked(_libc.mmap(None, 4096, 7, 0x22, -1, 0)),
        "own limits": raise_limits,
    }
    for name, attempt in attempts.items():
        try:
            channel.send({"attempt": name, "gave": repr(attempt())[:200]})
        except (OSError, LookupError) as error:  # a codec that Python would load from a file is not found either
            channel.send({"attempt": name, "gave": f"refused: {error!r}"[:200]})
    channel.send({"done": True})


def open_sockets(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    """Listen on a nameless socket of each family; send how that went."""
    gave: dict[str, str] = {}
    for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
        try:
            with socket.socket(family, socket.SOCK_STREAM if family != socket.AF_NETLINK else socket.SOCK_RAW) as made:
                made.bind("\0ava-test")
                made.listen()
            gave[family.name] = "listens"
        except OSError:
            gave[family.name] = "refused"
    channel.send({"gave": gave})


def write_over_the_recording(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    """Try to change the worker's file through its descriptor."""
    assert recording is not None
    try:
        channel.send({"gave": os.write(recording._descriptor, b"changed")})
    except OSError as error:
        channel.send({"gave": f"refused: {error.errno}"})


def eat_memory(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    eaten = [bytearray(arguments["bytes"] // 16) for _ in range(64)]
    channel.send({"eaten": len(eaten)})


def eat_memory_when_told(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    channel.wait()
    eat_memory(arguments, recording, channel)


def map_memory(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    """Ask the C library for memory, as a decoder does, and use it without looking."""
    _libc.malloc.restype = ctypes.c_void_p
    _libc.malloc.argtypes = [ctypes.c_size_t]
    ctypes.memset(_libc.malloc(arguments["bytes"]), 1, arguments["bytes"])


def ignore_the_end_and_burn_time(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    burn_time(arguments, recording, channel)


def abort(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    os.abort()


def leave(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    os._exit(arguments["code"])


def burn_time(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    while True:
        pass


def sleep(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    channel.wait()


def talk_nonsense(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    if "rows" in arguments:
        channel.share(np.asarray(arguments["rows"], dtype=np.int64), 0)
    os.write(channel._answers, arguments["words"].encode() * arguments.get("times", 1))


def lie_about_pictures(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    for _ in range(arguments["times"]):
        channel.send(arguments["message"])


def crash(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    ctypes.string_at(0)


def open_descriptors() -> list[int]:
    """Return the descriptors that answer to lseek or are pipes and sockets."""
    found = []
    for descriptor in range(64):
        try:
            os.lseek(descriptor, 0, os.SEEK_CUR)
        except OSError as error:
            if error.errno == 9:
                continue
        found.append(descriptor)
    return found


def raise_limits() -> None:
    try:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except ValueError as error:
        raise OSError(errno.EPERM, "refused") from error


def call(name: str, *arguments: object) -> int:
    return checked(_libc.syscall(_SYS[name], *arguments))


def checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result
