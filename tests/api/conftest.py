"""A server process group of the API, for the tests that need its sockets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.servers import ServerProcess


@pytest.fixture
def server(tmp_path: Path, database: None) -> Iterator[ServerProcess]:
    server = ServerProcess(tmp_path)
    try:
        server.wait(server.is_ready)
        yield server
    finally:
        server.stop()
