"""A method's version changes with what it asks: its tools, its prompts, its settings, and the end that all share.

Raise the version, then record: digests.py says how to compare what two commits ask, and how to record digests again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template
from typing import Any

import pytest

from gpu_workers.engine import prompts
from gpu_workers.engine.answering.methods import METHODS
from gpu_workers.engine.prompts import PROFILES
from tests.engine.answering.digests import digest_of, how_to_compare, record, recorded, write_bodies
from tests.engine.answering.replies import by_schema
from tests.engine.answering.test_each_method import NEW, ask

RECORDED = Path(__file__).with_name("method_versions.json")
EFFORTS = ("low", "medium", "high", "paper")


@contextmanager
def loaded_prompts() -> Iterator[set[str]]:
    """Yield the names of the prompts that are loaded meanwhile."""
    names: set[str] = set()
    load = prompts.load

    def noted(name: str, profile: str = "general") -> Template:
        names.add(name)
        return load(name, profile)

    with pytest.MonkeyPatch.context() as patch:
        for module in list(sys.modules.values()):
            if getattr(module, "__name__", "").startswith("gpu_workers.") and vars(module).get("load") is load:
                patch.setattr(module, "load", noted)
        yield names


def asked_by(method: str, effort: str) -> dict[str, Any]:
    """Return what a method asks at an effort: of each stage the rules, with the tools and their descriptions, and the
    schema of the first request; the wording of the prompts that it loaded; and its settings."""
    with loaded_prompts() as loaded:
        answer, served = ask(method, effort=effort, script=by_schema())
    first: dict[str, Any] = {}
    for request in served.server.requests:
        limits = {name: request.body.get(name) for name in ("max_tokens", "n", "temperature")}
        first.setdefault(request.schema_name, {"rules": request.system, "schema": request.schema, **limits})
    wording = [prompts.digest_of(loaded, profile) for profile in PROFILES]
    return {"stages": first, "prompts": wording, "settings": answer.settings}


@pytest.mark.parametrize("method", NEW)
def test_the_version_changes_with_what_the_method_asks(method: str) -> None:
    version = f"{method}, version {METHODS[method].version}, "
    bodies = {version + effort: asked_by(method, effort) for effort in EFFORTS}
    write_bodies(RECORDED.stem, bodies)
    now = {name: digest_of(body) for name, body in bodies.items()}
    before = {name: digest for name, digest in recorded(RECORDED).items() if name.startswith(f"{method}, ")}

    changed = [name for name in now if name in before and before[name] != now[name]]
    assert changed == [], f"{method} asks something else: raise its version.\n{how_to_compare(__file__)}"
    if os.environ.get("AVA_RECORD"):
        record(RECORDED, now, gone=before)
    else:
        assert before == now, f"this version is not recorded.\n{how_to_compare(__file__)}"


def test_no_digest_is_left_of_a_method_that_is_gone() -> None:
    assert {name.split(",")[0] for name in recorded(RECORDED)} == set(NEW)


def test_a_digest_differs_between_methods_and_efforts() -> None:
    digests = recorded(RECORDED).values()
    assert len(set(digests)) == len(digests) == len(NEW) * len(EFFORTS)
