"""A site, the app of an owner of acme, and recordings that play. Imports stand inside: Django is set up later."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Cast

if TYPE_CHECKING:
    from tests.web.app import App


@pytest.fixture
def site(database: None) -> Iterator[str]:
    from tests.web.app import site_of_this_process

    with site_of_this_process() as address:
        yield address


@pytest.fixture
def app(acme: Cast, site: str) -> Iterator[App]:
    """The app of an owner of acme. Fails the test on anything that the browser complains about."""
    from tests.web.app import opened

    with opened(acme, site) as made:
        yield made
        assert made.said == []


@pytest.fixture(scope="session")
def rendition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.web.app import written_rendition

    return written_rendition(tmp_path_factory.mktemp("rendition"))


@pytest.fixture
def play(app: App, rendition: Path) -> None:
    """Let recordings play, whatever they are."""
    from tests.web.app import play

    play(app.page, rendition)
