"""The types of the web app hold against those of the API, which are generated from openapi.yaml."""

from __future__ import annotations

import shutil

import pytest

from infra.web_lint.__main__ import types


@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm on this machine")
def test_the_app_keeps_to_the_types_of_the_api() -> None:
    types()
