"""Object storage that refuses the service's own keys is an operator's fault: work waits, and the log says why."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.test import override_settings

from backend.api.monitoring.readiness import NotReady
from backend.library import storage
from backend.library.storage import ObjectMissing, ObjectStorage, StorageAway, StorageDenied, source_key


@pytest.fixture
def wrong_key() -> Iterator[None]:
    storage._client.cache_clear()
    with override_settings(S3_SECRET_ACCESS_KEY="wrong" * 8):
        yield
    storage._client.cache_clear()


@pytest.mark.usefixtures("wrong_key")
def test_a_refused_key_is_no_missing_object(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, logger="ava.storage"), pytest.raises(StorageDenied) as raised:
        ObjectStorage().head(source_key(uuid4(), uuid4()))

    assert isinstance(raised.value, StorageAway)  # tried again, and 503 for customers
    assert [record.name for record in caplog.records] == ["ava.storage"]
    assert "HeadObject" in caplog.text


@pytest.mark.usefixtures("wrong_key")
def test_readiness_says_that_the_bucket_is_refused() -> None:
    with pytest.raises(NotReady, match="HeadBucket: 403"):
        storage.check_storage()


def test_a_missing_object_is_missing() -> None:
    with pytest.raises(ObjectMissing):
        ObjectStorage().head(source_key(uuid4(), uuid4()))
