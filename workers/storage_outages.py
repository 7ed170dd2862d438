"""Work that needs object storage waits while storage is away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from backend.jobs.breakers import STORAGE
from backend.jobs.services import Unavailable
from backend.library.storage import StorageAway


@contextmanager
def needing_storage() -> Iterator[None]:
    """Put the job back, without spending its attempt, if storage does not answer. Raises Unavailable."""
    try:
        yield
    except StorageAway as error:
        raise Unavailable(STORAGE, "storage_unavailable", str(error)) from error
