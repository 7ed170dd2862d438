"""A method's version changes with what it asks: its tools, its prompts, its settings, and the end that all share.

Record the digests again after a version was raised:
    AVA_RECORD=1 .venv/bin/python -m pytest tests/engine/answering/test_method_versions.py
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from gpu_workers.engine.answering.identity import prompts_digest
from gpu_workers.engine.answering.methods import METHODS
from gpu_workers.engine.prompts import PROFILES
from tests.engine.answering.replies import by_schema
from tests.engine.answering.test_each_method import NEW, ask

RECORDED = Path(__file__).with_name("method_versions.json")
EFFORTS = ("low", "medium", "high", "paper")


def digest_of(method: str, effort: str) -> str:
    """Return 16 hex digits over what a method asks at an effort: of each stage the rules, with the tools and their
    descriptions, and the schema of the first request; the wording of all its prompts; and its settings."""
    answer, served = ask(method, effort=effort, script=by_schema())
    first: dict[str, Any] = {}
    for request in served.server.requests:
        limits = {name: request.body.get(name) for name in ("max_tokens", "n", "temperature")}
        first.setdefault(request.schema_name, {"rules": request.system, "schema": request.schema, **limits})
    prompts = [prompts_digest(METHODS[method].prompts, profile) for profile in PROFILES]
    asked = {"stages": first, "prompts": prompts, "settings": answer.settings}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]


def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    return found


@pytest.mark.parametrize("method", NEW)
def test_the_version_changes_with_what_the_method_asks(method: str) -> None:
    now = {"version": METHODS[method].version, "efforts": {effort: digest_of(method, effort) for effort in EFFORTS}}
    before = recorded()
    known = before.get(method)
    if known == now:
        return
    same_version = known is not None and known["version"] == now["version"]
    assert not same_version, f"{method} asks something else than before: raise its version, then record (see above)"
    if os.environ.get("AVA_RECORD"):
        RECORDED.write_text(json.dumps(before | {method: now}, indent=1, sort_keys=True) + "\n")
        return
    pytest.fail(f"version {now['version']} of {method} is not recorded: record it (see above)")


def test_no_digest_is_left_of_a_method_that_is_gone() -> None:
    assert set(recorded()) == set(NEW)


def test_a_digest_tells_methods_and_efforts_apart() -> None:
    digests = [digest for method in recorded().values() for digest in method["efforts"].values()]
    assert len(set(digests)) == len(digests) == len(NEW) * len(EFFORTS)
