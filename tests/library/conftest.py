"""A web server with recordings, and workers that observe nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.library.web import ScriptedWeb


@pytest.fixture
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave segments unobserved, and let attempts follow each other at once."""
    monkeypatch.setattr("backend.library.indexing.plan.open_next_segments", lambda video_id, version: None)
    monkeypatch.setattr("backend.jobs.leases.RETRY_BASE_SECONDS", 0)


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedWeb]:
    # Imported late, because pytest reads this file before the settings exist.
    from django.conf import settings

    from tests.library.growing import cut
    from tests.library.web import Page, serving
    from tests.tasks.world import FORTY_SECONDS

    monkeypatch.setattr(settings, "SOURCE_ALLOW_PRIVATE", True)
    film = cut(FORTY_SECONDS, 0, 10_400)
    with serving(
        film=Page(body=film),
        unannounced=Page(body=film, length=False),
        broken=Page(body=film[:-100], headers=(("content-length", str(len(film))),), length=False),
        away=Page(503),
        moved=Page(302, headers=(("location", "/film.mp4"),)),
        empty=Page(),
    ) as web:
        yield web
