"""A server process group of the API, for the tests that need its sockets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.api.servers import ServerProcess


@pytest.fixture(scope="module")
def _servers() -> Iterator[list[ServerProcess]]:
    started: list[ServerProcess] = []
    yield started
    for each in started:
        each.stop()


@pytest.fixture
def server(_servers: list[ServerProcess], tmp_path_factory: pytest.TempPathFactory, database: None) -> ServerProcess:
    """Return the server that the tests of a file share; another one after a test that has ended it."""
    if not _servers or _servers[-1].process.poll() is not None:
        _servers.append(ServerProcess(tmp_path_factory.mktemp("api")))
        _servers[-1].wait(_servers[-1].is_ready)
    return _servers[-1]
