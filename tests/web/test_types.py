"""The types of the web app hold against those of the API, which are generated from openapi.yaml."""

from __future__ import annotations

import pytest

from infra.web_lint.__main__ import LintFailed, install, types


def test_the_app_keeps_to_the_types_of_the_api() -> None:
    try:
        install()
    except LintFailed as error:
        pytest.skip(f"the tools of the check cannot be installed here: {str(error)[:200]}")
    types()
