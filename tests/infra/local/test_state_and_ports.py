"""The state that a stack keeps, and the ports it takes."""

from __future__ import annotations

import base64
import socket
import stat
from pathlib import Path

import pytest

from infra.local import ports
from infra.local.child_process import Identity
from infra.local.errors import AlreadyRunning
from infra.local.state import State


def test_secrets_survive_and_are_for_the_owner_only(tmp_path: Path) -> None:
    first = State(tmp_path).secret("django")

    assert State(tmp_path).secret("django") == first
    assert State(tmp_path).secret("pepper") != first
    assert stat.S_IMODE((tmp_path / "state.json").stat().st_mode) == 0o600


def test_derived_secrets_have_the_form_their_readers_need(tmp_path: Path) -> None:
    state = State(tmp_path)

    assert len(bytes.fromhex(state.secret_hex("pepper"))) == 32
    assert len(base64.urlsafe_b64decode(state.secret_fernet("encryption"))) == 32


def test_a_root_belongs_to_one_process_at_a_time(tmp_path: Path) -> None:
    first, second = State(tmp_path), State(tmp_path)
    first.lock()

    with pytest.raises(AlreadyRunning):
        second.lock()
    assert not second.locked

    first.unlock()
    second.lock()
    assert second.locked
    second.unlock()


def test_processes_are_recorded_until_they_are_stopped(tmp_path: Path) -> None:
    State(tmp_path).set_process("api", Identity(11, 22))
    assert State(tmp_path).processes() == {"api": Identity(11, 22)}

    State(tmp_path).set_process("api", None)
    assert State(tmp_path).processes() == {}


def test_a_port_is_kept_while_it_is_free(tmp_path: Path) -> None:
    state = State(tmp_path)
    port = ports.claim(state, "api")
    assert ports.claim(state, "api") == port

    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        assert not ports.is_free(port)
        moved = ports.claim(state, "api")

    assert moved != port
    assert State(tmp_path).port("api") == moved


def test_a_block_is_not_given_out_when_a_shifted_port_is_taken(tmp_path: Path) -> None:
    state = State(tmp_path)
    first = ports.claim(state, "s3", size=3, offsets=(0, ports.GRPC_OFFSET))

    with socket.socket() as other:
        other.bind(("127.0.0.1", first + 2 + ports.GRPC_OFFSET))
        other.listen()
        moved = ports.claim(state, "s3", size=3, offsets=(0, ports.GRPC_OFFSET))

    assert moved != first
