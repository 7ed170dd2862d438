"""The console's process within that of the tests: its routes, cookies and roles, and people of its staff."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.test import Client

# Models are imported when the settings of the tests stand, so inside the fixtures.


@pytest.fixture(autouse=True)
def _console() -> Iterator[None]:
    from django.conf import settings
    from django.test import override_settings

    from backend.console.site_settings import console_settings

    with override_settings(**console_settings("http://testserver", settings.MIDDLEWARE)):
        yield


@pytest.fixture
def staff_as(database: None) -> Callable[[str], Client]:
    """Return a function from the name of a role to the browser of a new person with this role."""
    from django.core.cache import cache

    from tests.console.signing_in import appointed

    # The overview keeps the sums of earlier days, so a test would see those of the test before it.
    cache.clear()
    return appointed


@pytest.fixture
def staff(staff_as: Callable[[str], Client]) -> Client:
    """An operator's browser."""
    return staff_as("operator")
