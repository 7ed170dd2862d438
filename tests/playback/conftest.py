"""What is uploaded here is made ready for playback."""

from __future__ import annotations

import pytest
from django.conf import settings


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "KEEP_RENDITIONS", True)
