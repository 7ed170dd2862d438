"""Starts boxes quickly: a bare process that has loaded the decoders forks one box for each request.

Runs as `python -m gpu_workers.engine.indexing.box.zygote` with an empty environment; its standard input is a socket on
which each message is one request, with descriptors for the box. It answers with a process descriptor of the box and
with a pipe on which it reports how the box ended, or with no descriptor if the host gives it no process.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from typing import Any, NoReturn

from gpu_workers.engine.indexing.box import jobs, lockdown
from gpu_workers.engine.indexing.box.channel import Channel
from gpu_workers.engine.indexing.box.session_weight import weigh_session_as_process
from gpu_workers.engine.indexing.box.supplied import Supplied

REQUEST_BYTES = 16 * 1024

Job = Callable[[dict[str, Any], Supplied | None, Channel], None]


def main() -> None:
    requests = socket.socket(fileno=os.dup(0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    weigh_session_as_process()
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    empty = _empty_folder()
    running: dict[int, tuple[int, int]] = {}
    # Not select(), which takes no descriptor above 1,023.
    watched = select.poll()
    watched.register(requests, select.POLLIN)
    while True:
        for descriptor, _ in watched.poll():
            if descriptor in running:
                watched.unregister(descriptor)
                os.close(descriptor)
                _report(*running.pop(descriptor))
                continue
            message, handed, _, _ = socket.recv_fds(requests, REQUEST_BYTES, 3)
            if not message:
                return  # the worker has ended, and its boxes end with this process
            box = _fork(requests, message, handed, empty)
            for each in handed:
                os.close(each)
            if box is None:
                requests.send(b"refused")
                continue
            process, (reading, writing) = os.pidfd_open(box), os.pipe()
            watched.register(process, select.POLLIN)
            running[process] = (box, writing)
            socket.send_fds(requests, [b"started"], [process, reading])
            os.close(reading)


def _fork(requests: socket.socket, message: bytes, handed: list[int], empty: int) -> int | None:
    """Return the process of a new box; None if the host gives none."""
    mine = os.getpid()
    try:
        box = os.fork()
    except OSError:
        return None
    if box == 0:
        requests.close()
        try:
            _enter(json.loads(message), handed, empty, mine)
        finally:
            os._exit(1)
    return box


def _report(box: int, pipe: int) -> None:
    """Report to the worker how a box ended: the signal, 0 for none, the exit status, and the CPU time of the box."""
    _, status, used = os.wait4(box, 0)
    end = {
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        "code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0,
        "cpu_s": used.ru_utime + used.ru_stime,
    }
    with contextlib.suppress(BrokenPipeError):  # the worker ended the box itself
        os.write(pipe, json.dumps(end).encode())
    os.close(pipe)


def _enter(request: dict[str, Any], handed: list[int], empty: int, zygote: int) -> None:
    """Become the box, run its job and exit. handed: its answers, its memory and its recording, if it has one."""
    # Not a session of its own, which would weigh as much as any other on the processors.
    os.setpgid(0, 0)
    lockdown.die_before_the_worker()
    device, program = bool(request["device"]), _program_files(request.get("program"))
    name, _, function = str(request["job"]).partition(":")
    job: Job | None = getattr(importlib.import_module(name), function) if name else None
    layers = ["user"] if lockdown.take_own_user() else []
    lockdown.die_with_parent(zygote)
    if not device and lockdown.enter_namespaces():
        layers.append("namespaces")
        # Only a process that is forked now lives in the new namespaces. This one waits, and holds nothing.
        inside = os.fork()
        if inside:
            _close_all_but({0, 1, 2})
            _end_as(os.waitpid(inside, 0)[1])
        lockdown.die_with_parent(0)
    opened = set() if program is None else {program.binary, program.folder}
    _close_all_but({0, 1, 2, empty, *handed, *opened})
    answers, memory, *recording = handed
    channel = Channel(answers, memory, request["memory_bytes"])
    supplied = Supplied(recording[0], request["size"], remote=request["remote"]) if recording else None
    try:
        limits, alone = lockdown.BoxLimits(**request["limits"]), bool(layers)
        layers += lockdown.lock(limits, empty=empty, alone=alone, device=device, program=program)
        channel.send({"layers": layers})
        if program is not None:
            channel.become(program.binary, request["program"]["argv"])
        elif job is not None:
            job(request["arguments"], supplied, channel)
    except MemoryError:
        channel.send({"error": "out_of_memory"})
    except BaseException as error:  # noqa: BLE001 - the process ends here; the worker learns the kind and no more
        channel.send({"error": "failed", "kind": type(error).__name__})
    channel.wait_for_the_end()
    os._exit(0)


def _program_files(program: dict[str, Any] | None) -> lockdown.ProgramFiles | None:
    """Open the program that the box becomes, and enter its folder, which its own user shall own."""
    if program is None:
        return None
    binary = os.open(program["binary"], os.O_RDONLY | os.O_CLOEXEC)
    folder = os.open(program["folder"], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    os.fchdir(folder)
    if os.geteuid() == 0:
        own = lockdown.FIRST_USER + os.getpid()
        for name in os.listdir(folder):
            os.chown(name, own, own, dir_fd=folder, follow_symlinks=False)
        os.fchown(folder, own, own)
    return lockdown.ProgramFiles(binary, folder, tuple(program["readable"]))


def _end_as(status: int) -> NoReturn:
    """End as the process with this status did: by the same signal, or with a code."""
    if os.WIFSIGNALED(status):
        os.kill(os.getpid(), os.WTERMSIG(status))
        signal.pause()
    os._exit(int(status != 0))


def _close_all_but(kept: set[int]) -> None:
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor not in kept:
            with contextlib.suppress(OSError):  # the listing's own descriptor is closed already
                os.close(descriptor)


def _empty_folder() -> int:
    """Return a descriptor of a folder that is deleted, so that nobody can ever put something into it."""
    path = tempfile.mkdtemp(prefix="ava-box-")
    os.chmod(path, 0o555)  # noqa: S103 - other users must enter it, and nobody can write to it
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    os.rmdir(path)
    return folder


if __name__ == "__main__":
    jobs.warm_up()
    main()
    sys.exit(0)
