"""The worker's side of boxes: starts them, hands them bytes, and takes their answers as data that may be hostile."""

from __future__ import annotations

import atexit
import fcntl
import json
import mmap
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass, replace
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.indexing.box.channel import MESSAGE_BYTES
from gpu_workers.engine.indexing.box.lockdown import BoxLimits
from gpu_workers.engine.indexing.box.memory_limit import bounded, container_memory
from gpu_workers.engine.indexing.box.supply import Supply

START_TIMEOUT_S = 60.0
END_TIMEOUT_S = 10.0
"""Time in which the end of a box that has closed its side is reported."""
_SPENT = 0.8
"""Share of its CPU time from which a killed box counts as one at its limit. The kernel enforces the limit by ticks, and
reports the time that was used exactly: these differ by some percent."""
_SEALS = 0x0001 | 0x0002 | 0x0004
"""F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW: a box that shrank the memory would end the worker that reads it."""


class BoxEnded(Exception):
    """A box ended without an answer: at one of its limits, by a fault of the decoder, or since it sent nonsense."""


class BoxLost(Exception):
    """A box was killed from outside, or could not be started: its file did not cause that.

    The kernel kills a box when the memory of the host or of the container runs out, and so does an operator.
    """


class BoxSilent(Exception):
    """A box gave no answer in time."""


class BoxUnavailable(Exception):
    """This host cannot lock such a process down, so nothing is decoded in one here."""


@dataclass(frozen=True, slots=True)
class Program:
    """The program that a box becomes. binary: its path. folder: the only folder whose files it reads and writes, which
    is its working directory. argv: with the program's name. readable: other paths that it may read."""

    binary: str
    folder: str
    argv: tuple[str, ...]
    readable: tuple[str, ...] = ()


class Zygote:
    """The process that forks boxes for this process. It is started with the first box."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._requests: socket.socket | None = None

    def start_box(self, request: dict[str, Any], descriptors: list[int]) -> tuple[int, int]:
        """Return a process descriptor of a new box, and a pipe on which its end is reported. Raises BoxLost."""
        with self._lock:
            for _ in range(2):
                try:
                    requests = self._running()
                    socket.send_fds(requests, [json.dumps(request).encode()], descriptors)
                    answer, handed, _, _ = socket.recv_fds(requests, 64, 2)
                except OSError:
                    self._stop()
                    continue
                if len(handed) == 2:
                    return handed[0], handed[1]
                if answer:
                    break  # the boxes that run already go on
                self._stop()
        raise BoxLost("no process for the decoder can be started")

    def stop(self) -> None:
        """End the zygote, and with it every box that still runs."""
        with self._lock:
            self._stop()

    def _running(self) -> socket.socket:
        # A process that was forked from this one must not share its zygote.
        if self._requests is None or self._process is None or self._owner != os.getpid():
            mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            mine.settimeout(START_TIMEOUT_S)
            environment = {
                "PATH": os.defpath,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "LANG": "C.UTF-8",
                "OPENBLAS_NUM_THREADS": "1",  # a process with threads of its own cannot be forked safely
            }
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "gpu_workers.engine.indexing.box.zygote"],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    env=environment,
                    start_new_session=True,
                )
            self._requests, self._owner = mine, os.getpid()
        return self._requests

    def _stop(self) -> None:
        if self._requests is not None:
            self._requests.close()
        if self._process is not None and self._owner == os.getpid():
            self._process.kill()
            self._process.wait()
        self._process = self._requests = None


ZYGOTE = Zygote()
atexit.register(ZYGOTE.stop)


class Box:
    """One job in a process of its own. Its messages are dictionaries; `layers` names what holds it in."""

    def __init__(
        self,
        job: str,
        arguments: dict[str, Any],
        supply: Supply | None = None,
        *,
        limits: BoxLimits | None = None,
        memory_bytes: int = 0,
        wall_s: float = 600.0,
        device: bool = False,
        program: Program | None = None,
    ) -> None:
        """Start the job "module:function", or a program if job is empty. Takes over supply.

        Raises BoxLost, BoxSilent or BoxUnavailable.

        A box gets no more memory than the container of this process has.
        """
        given = limits or BoxLimits()
        self.supply = supply
        self._ends = time.monotonic() + wall_s
        self._answers, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        memory = os.memfd_create("box", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        self._process = self._end = -1
        self._cpu_s = given.cpu_s
        try:
            self._memory = _sealed(memory, memory_bytes) if memory_bytes else None
            request = {
                "job": job,
                "arguments": arguments,
                "limits": asdict(replace(given, memory_bytes=bounded(given.memory_bytes, container_memory()))),
                "memory_bytes": memory_bytes,
                "device": device,
                "program": None if program is None else asdict(program),
                "size": supply.size if supply is not None else None,
                "remote": supply is not None and supply.remote,
            }
            descriptors = [theirs.fileno(), memory, *([supply.descriptor] if supply is not None else [])]
            self._process, self._end = ZYGOTE.start_box(request, descriptors)
            if supply is not None:
                supply.serve()
        except BaseException:
            self.close()
            raise
        finally:
            theirs.close()
            os.close(memory)
        first = self._first()
        self.layers = tuple(str(layer) for layer in first["layers"])

    def receive(self) -> dict[str, Any]:
        """Return the next message. Raises BoxEnded, BoxLost or BoxSilent."""
        self._answers.settimeout(max(0.001, self._ends - time.monotonic()))
        try:
            data = self._answers.recv(MESSAGE_BYTES)
        except TimeoutError:
            raise BoxSilent("the decoder took too long") from None
        except OSError:
            data = b""
        if not data:
            raise self._ending()
        try:
            message = json.loads(data)
        except (ValueError, RecursionError):  # the latter by brackets in brackets
            message = None
        if not isinstance(message, dict):
            raise BoxEnded("the decoder's answer makes no sense")
        if message.get("error") in ("failed", "out_of_memory"):
            raise BoxEnded(f"the decoder failed: {str(message.get('kind', 'MemoryError'))[:80]}")
        return message

    def output(self, wait_s: float) -> str | None:
        """Return the next words of a program: "" without any for wait_s, None after its end. Raises BoxSilent."""
        rest_s = self._ends - time.monotonic()
        if rest_s <= 0:
            raise BoxSilent("the program took too long")
        self._answers.settimeout(min(wait_s, rest_s))
        try:
            data = self._answers.recv(MESSAGE_BYTES)
        except TimeoutError:
            return ""
        except OSError:
            return None
        return data.decode(errors="replace") if data else None

    def exit_status(self) -> int:
        """Return the exit status of a program that has ended. Raises BoxEnded at a limit or a fault, and BoxLost."""
        end = self._end_report()
        if end is None:
            raise BoxLost("the process that starts decoders has ended")
        if end["signal"]:
            raise self._meaning(end)
        return int(end["code"])

    def release(self) -> None:
        """Let the box use the part of the memory that was taken longest ago."""
        try:
            self._answers.send(b"taken")
        except OSError:
            return  # it has ended; receive() will say so

    def shared(self, dtype: type[np.generic], count: int, offset: int) -> NDArray[Any]:
        """Return a copy of `count` values from the shared memory. Raises BoxEnded if they do not lie in it."""
        size = np.dtype(dtype).itemsize * count
        if self._memory is None or count < 0 or offset < 0 or offset + size > len(self._memory):
            raise BoxEnded("the decoder's answer makes no sense")
        return np.frombuffer(self._memory, dtype=dtype, count=count, offset=offset).copy()

    def close(self) -> None:
        """End the box at once."""
        if self._process >= 0:
            try:
                signal.pidfd_send_signal(self._process, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has ended by itself
            finally:
                os.close(self._process)
                os.close(self._end)
                self._process = self._end = -1
        self._answers.close()
        if self.supply is not None:
            self.supply.close()

    def __enter__(self) -> Box:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ending(self) -> BoxEnded | BoxLost:
        """Return what the end of the box means.

        At the limit of its CPU time the kernel kills a box with SIGKILL too, so the time that it used decides.
        """
        # Not select(), which takes no descriptor above 1,023.
        reports = select.poll()
        reports.register(self._end, select.POLLIN)
        if not reports.poll(END_TIMEOUT_S * 1000):
            return BoxEnded("the decoder ended at its limits or by a fault")
        end = self._end_report()
        return BoxLost("the process that starts decoders has ended") if end is None else self._meaning(end)

    def _end_report(self) -> dict[str, Any] | None:
        """Wait for the report of how the box ended; None if the process that reports has ended itself."""
        report = os.read(self._end, MESSAGE_BYTES)
        return json.loads(report) if report else None

    def _meaning(self, end: dict[str, Any]) -> BoxEnded | BoxLost:
        if end["signal"] == signal.SIGKILL and end["cpu_s"] < _SPENT * self._cpu_s:
            return BoxLost("the decoder was killed by its host")
        return BoxEnded("the decoder ended at its limits or by a fault")

    def _first(self) -> dict[str, Any]:
        try:
            first = self.receive()
        except BoxEnded as error:
            self.close()
            if "FilterMissing" in str(error):
                needed = "libseccomp, a kernel with seccomp and, with a device, Landlock"
                raise BoxUnavailable(f"decoding needs {needed}") from error
            # It has not touched the file.
            raise BoxLost(f"a process for the decoder cannot be locked down: {error}") from error
        except (BoxLost, BoxSilent):
            self.close()
            raise
        if not isinstance(first.get("layers"), list):
            self.close()
            raise BoxEnded("the decoder's answer makes no sense")
        return first


def _sealed(memory: int, size: int) -> mmap.mmap:
    os.ftruncate(memory, size)
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, _SEALS)
    return mmap.mmap(memory, size)
