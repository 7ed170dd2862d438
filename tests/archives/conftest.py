from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.archives.world import Installations
from tests.conftest import _delete_rows


@pytest.fixture(scope="session")
def _installations() -> Installations:
    return Installations()


@pytest.fixture
def installations(_installations: Installations, database: None) -> Iterator[Installations]:
    """Two installations without tenants."""
    yield _installations
    with _installations.connect(_installations.b) as server:
        _delete_rows(server)
