"""What a container of a rehearsal can reach, see and write: as in an engine, on this machine's own kernel."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from infra.local.errors import NotInstalled
from infra.rehearsal import network, sandbox
from infra.rehearsal.compose import PROJECT


def refused() -> str | None:
    try:
        sandbox.bubblewrap()
    except NotInstalled as error:
        return str(error)
    return network.unavailable()


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    reason = refused()
    if reason is not None:
        pytest.skip(reason)
    machine = HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=machine.serve_forever, daemon=True).start()
    folder = tmp_path_factory.mktemp("containers")
    output = folder / "seen.json"
    line = [sys.executable, "-m", "tests.infra.rehearsal.two_containers", str(folder)]
    env = {**os.environ, "PORT_OF_THE_MACHINE": str(machine.server_port), "PYTHONPATH": str(PROJECT)}
    with output.open("wb") as out:
        process = subprocess.Popen([*network.namespaces(), *line], env=env, stdout=out)
        assert process.wait(120) == 0
    machine.shutdown()
    return json.loads(output.read_text())


def test_a_server_on_its_loopback_is_reached_by_no_other_container(seen: dict[str, Any]):
    assert seen["loopback_from_another"] is False
    assert seen["all_addresses_from_another"] is True


def test_a_container_reaches_no_server_of_this_machine(seen: dict[str, Any]):
    assert seen["reaches_this_machine"] is False


def test_a_container_has_its_own_user_host_name_and_environment(seen: dict[str, Any]):
    uid, gid, hostname, _ = seen["identity"]
    assert (uid, gid, hostname) == (10001, 10001, "inward")
    assert {line.partition("=")[0] for line in seen["environment"]} <= {"PATH", "GIVEN", "PWD", "OLDPWD", "SHLVL", "_"}
    assert "GIVEN=1" in seen["environment"]


def test_only_volumes_and_memory_can_be_written(seen: dict[str, Any]):
    assert seen["writes"] == {"root": False, "app": False, "usr": False, "tmp": True, "volume": True, "shm": True}


def test_only_what_is_bound_is_there(seen: dict[str, Any]):
    assert seen["identity"][3] == ["page"]
    assert seen["sees_the_checkout"] is False


def test_a_stopped_container_has_ended(seen: dict[str, Any]):
    assert seen["restarts"] == [None, None]
    assert seen["ended"] == [True, True]


def test_nothing_outlives_the_namespaces(tmp_path: Path):
    if (reason := refused()) is not None:
        pytest.skip(reason)
    mark = f"outlives-{os.getpid()}"
    code = f"import subprocess; subprocess.Popen(['sleep', '600'], env={{'MARK': '{mark}'}}, start_new_session=True)"
    assert network.enter([sys.executable, "-c", code], os.environ).wait(60) == 0
    environments = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            environments.append(path.read_bytes())
        except OSError:
            continue
    assert not [each for each in environments if f"MARK={mark}".encode() in each]


def test_the_outlet_connects_to_named_hosts_only(tmp_path: Path):
    machine = HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=machine.serve_forever, daemon=True).start()
    port = machine.server_port
    outlet = network.Outlet(tmp_path / "outlet", frozenset({("127.0.0.1", port)}))
    try:
        assert _through(tmp_path / "outlet", f"127.0.0.1:{port}").startswith(b"HTTP/1.0 200")
        assert _through(tmp_path / "outlet", f"localhost:{port}") == b""
        assert _through(tmp_path / "outlet", "127.0.0.1:x") == b""
    finally:
        outlet.close()
        machine.shutdown()


def _through(path: Path, target: str) -> bytes:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(path))
        client.sendall(f"{target}\nGET / HTTP/1.0\r\n\r\n".encode())
        answer = b""
        try:
            while got := client.recv(4096):
                answer += got
        except ConnectionResetError:
            return b""
        return answer
