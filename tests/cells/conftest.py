from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cells.world import Cells


@pytest.fixture(scope="session")
def _cells(tmp_path_factory: pytest.TempPathFactory) -> Cells:
    return Cells(Path(tmp_path_factory.mktemp("cells")))


@pytest.fixture
def cells(_cells: Cells, database: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cells]:
    """Two cells and their directory; commands of operators reach both."""
    from django.test import override_settings

    monkeypatch.setenv("DATABASE_MOVER_URL", _cells.mover_url)
    with override_settings(CELLS_FILE=str(_cells.file)):
        yield _cells
    _cells.empty()
