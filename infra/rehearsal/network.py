"""The network of a rehearsal: one network namespace per container, joined by a bridge, as an engine does it.

`enter` starts a program in namespaces of its own; all that it starts ends with it. Inside, `Network` gives addresses
and `Relay` publishes ports. The only way out is the `Outlet`: a thread outside that connects to a few named hosts.
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from infra.local.errors import ServiceFailed

_SUBNET = "10.88.0"
GATEWAY = f"{_SUBNET}.1"
"""Address of the bridge: of "this machine" as a container sees it."""
_BRIDGE = "ava0"
_BRIDGE_MAC = "02:00:0a:58:00:01"
_BLOCK = 1 << 16
_ATTEMPTS_S = 10.0
# The peer's name is fixed by the parent; the process waits on its input until the parent has moved the peer in.
_JOIN = """read -r _; ip link set lo up; ip addr add "$1/24" dev eth0; ip link set eth0 up
ip route add default via "$2"; shift 2; exec "$@" < /dev/null"""


def unavailable() -> str | None:
    """Return why this machine cannot make the namespaces, or None if it can."""
    if shutil.which("unshare") is None or shutil.which("ip") is None or shutil.which("nsenter") is None:
        return "unshare, nsenter (util-linux) or ip (iproute2) is missing"
    probe = [*namespaces(), "sh", "-c", f"ip link add {_BRIDGE} type bridge && ip link add v0 type veth peer name v1"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"namespaces are refused: {done.stderr.strip()[-300:]}"


def enter(command: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start command in namespaces of its own; when it ends, all that it started ends."""
    return subprocess.Popen([*namespaces(), *command], env=dict(env))


def namespaces() -> list[str]:
    """Return the command line that runs what follows in namespaces of its own."""
    line = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    return line if os.geteuid() == 0 else [*line, "--user", "--map-root-user"]


class Network:
    """The bridge and the addresses on it. Only inside `enter`."""

    def __init__(self) -> None:
        for command in (
            ["link", "set", "lo", "up"],
            # Without an address of its own a bridge takes the lowest of its members. That changes as containers start,
            # and those that have asked before send to nobody.
            ["link", "add", _BRIDGE, "address", _BRIDGE_MAC, "type", "bridge"],
            ["addr", "add", f"{GATEWAY}/24", "dev", _BRIDGE],
            ["link", "set", _BRIDGE, "up"],
        ):
            _ip(*command)
        self._addresses: dict[str, str] = {}
        self._links = 0

    def address(self, name: str) -> str:
        """Return the address of a container, the same at every call."""
        return self._addresses.setdefault(name, f"{_SUBNET}.{10 + len(self._addresses)}")

    def known(self, name: str) -> bool:
        """Whether a container of this name has an address."""
        return name in self._addresses

    def start(
        self, name: str, command: Sequence[str], env: Mapping[str, str], log: Path, pass_fds: Iterable[int] = ()
    ) -> subprocess.Popen[bytes]:
        """Start command in a network namespace that has the container's address."""
        with log.open("ab") as out:
            process = subprocess.Popen(
                [
                    str(shutil.which("unshare")),
                    "--net",
                    "/bin/sh",
                    "-c",
                    _JOIN,
                    "sh",
                    self.address(name),
                    GATEWAY,
                    *command,
                ],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=dict(env),
                pass_fds=tuple(pass_fds),
                start_new_session=True,
            )
        deadline = time.monotonic() + _ATTEMPTS_S
        while _net(process.pid) == _net(os.getpid()):
            if time.monotonic() > deadline or process.poll() is not None:
                raise ServiceFailed(f"{name}: no network namespace; {log} may say why")
            time.sleep(0.005)
        self._links += 1
        link = f"ava{self._links}x"
        _ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", str(process.pid))
        _ip("link", "set", link, "master", _BRIDGE, "up")
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.close()
        return process


def _net(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return ""


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ServiceFailed(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


class Relay:
    """Copies bytes between connections to a listening socket and connections that `connect` opens."""

    def __init__(self, listener: socket.socket, connect: tuple[str, int] | str, first: bytes = b"") -> None:
        """connect: an address, or the path of a Unix socket. first: bytes that each new connection begins with."""
        self._listener, self._target, self._first = listener, connect, first
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        try:
            if isinstance(self._target, str):
                far = socket.socket(socket.AF_UNIX)
                far.connect(self._target)
            else:
                far = socket.create_connection(self._target, timeout=10)
                far.settimeout(None)
            far.sendall(self._first)
        except OSError:
            near.close()
            return
        join(near, far)

    def close(self) -> None:
        """Accept no more connections."""
        self._listener.close()


def listen(address: str, port: int) -> socket.socket:
    """Return a socket that listens at an address of this namespace."""
    return socket.create_server((address, port), backlog=128)


class Outlet:
    """The way out: connects each client of a Unix socket to the host and port in its first line, if allowed."""

    def __init__(self, path: Path, allowed: frozenset[tuple[str, int]]) -> None:
        path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(64)
        self._allowed = allowed
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        line = b""
        while not line.endswith(b"\n") and len(line) < 300:
            got = near.recv(1)
            if not got:
                break
            line += got
        host, _, port = line.decode().strip().rpartition(":")
        if not port.isdigit() or (host, int(port)) not in self._allowed:
            near.close()
            return
        try:
            far = socket.create_connection((host, int(port)), timeout=20)
            far.settimeout(None)
        except OSError:
            near.close()
            return
        join(near, far)

    def close(self) -> None:
        """Accept no more connections."""
        self._listener.close()


def join(near: socket.socket, far: socket.socket) -> None:
    """Copy bytes both ways until both sides have ended."""
    with near, far, selectors.DefaultSelector() as ready:
        ready.register(near, selectors.EVENT_READ, far)
        ready.register(far, selectors.EVENT_READ, near)
        while ready.get_map():
            for key, _ in ready.select():
                source, target = key.fileobj, key.data
                assert isinstance(source, socket.socket)
                try:
                    data = source.recv(_BLOCK)
                    if data:
                        target.sendall(data)
                        continue
                    target.shutdown(socket.SHUT_WR)
                except OSError:
                    return
                ready.unregister(source)


def use_hosts(content: str, folder: Path) -> None:
    """Let this process resolve names by content instead of /etc/hosts. Only inside `enter`."""
    file = folder / "hosts-of-the-machine"
    file.write_text(content)
    subprocess.run(["mount", "--bind", str(file), "/etc/hosts"], check=True)


def end_with(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process of `enter`, hand it SIGTERM when this process is interrupted, and return its status."""

    def pass_on(number: int, frame: object) -> None:
        # unshare itself ends by a signal that it does not hand on, so its child is signalled.
        for child in children(process.pid):
            os.kill(child, signal.SIGTERM)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, pass_on)
    return process.wait()


def children(pid: int) -> list[int]:
    """Return the ids of the children of a process that has one thread."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
