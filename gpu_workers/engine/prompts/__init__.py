"""Prompts as files: one per prompt, in a folder per scenario where the wording differs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template

PROFILES = ("general", "wildlife", "traffic", "egocentric", "city")
_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")


@cache
def load(name: str, profile: str = "general") -> Template:
    """Return the prompt called name in the words of a scenario, else in general words.

    The folders searched are profile's, general's and this module's. Fill it with substitute(), which puts
    values in once and never reads placeholders inside a value, so text seen in a video cannot pull in another value.
    Raises ValueError for an unknown profile and LookupError when there is no such prompt.
    """
    if profile not in PROFILES:
        raise ValueError(f"no profile {profile!r}; known: {', '.join(PROFILES)}")
    if not _NAME.match(name):
        raise LookupError(f"no prompt {name!r}")
    root = files(__name__)
    for folder in (root / profile, root / "general", root):
        file = folder / f"{name}.txt"
        if file.is_file():
            return Template(file.read_text(encoding="utf-8").strip())
    raise LookupError(f"no prompt {name!r}")


def digest_of(names: Iterable[str], profile: str = "general") -> str:
    """Return 16 hex digits over the wording of these prompts in a profile. They change with any change of a word."""
    texts = [load(name, profile).template for name in sorted(set(names))]
    return hashlib.sha256(repr(texts).encode()).hexdigest()[:16]


@cache
def digest() -> str:
    """Return the digest of all prompts together. It changes with any change of their wording."""
    root = Path(str(files(__name__)))
    texts = sorted((str(path.relative_to(root)), path.read_text(encoding="utf-8")) for path in root.rglob("*.txt"))
    return hashlib.sha256(repr(texts).encode()).hexdigest()
