"""Tests that only a machine with an NVIDIA device can run: `make test-gpu`. They need no server and no network."""

from __future__ import annotations

import pytest

from gpu_workers.engine.indexing import hardware


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if any(device.exists() for device in hardware._DEVICES):
        return
    for item in items:
        if "/gpu/" in str(item.path):
            item.add_marker(pytest.mark.skip(reason="this machine has no NVIDIA device"))
