"""The vocabulary of the tape: what each of its five cameras can see, read and hear (scenes/*.toml)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "scenes"
NAMES = ("shop", "street", "wildlife", "kitchen", "office")
"""The scenes, in the order in which the tape shows them."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A thing that goes on for some minutes. key: an answer names the topic if it contains one of these."""

    title: str
    summary: str
    key: tuple[str, ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Happening:
    """A thing that happens several times at separate times. verb: with "does". past: a whole clause. order: a noun
    that takes an ordinal, "" if there is none."""

    name: str
    verb: str
    past: str
    plural: str
    texts: tuple[str, ...]
    order: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """A category of tracked things. most: maximum number of them in the scene."""

    category: str
    colours: tuple[str, ...]
    texts: tuple[str, ...]
    most: int


@dataclass(frozen=True, slots=True)
class Scene:
    """What a camera can record. Sentences have the slots {A}, {a} (actor), {p} (place), {t} (thing), {c} (colour);
    lines have {n} (name), {w} (word), {num}, {code}."""

    name: str
    scene: tuple[str, ...]
    about: str
    actors: tuple[str, ...]
    places: tuple[str, ...]
    things: tuple[str, ...]
    background: tuple[str, ...]
    topics: tuple[Topic, ...]
    happenings: tuple[Happening, ...]
    things_seen: tuple[Seen, ...]
    lines: tuple[str, ...]
    words: tuple[str, ...]
    writing: str
    writing_kind: str


@cache
def scene(name: str) -> Scene:
    """Return the scene of that name. Raises FileNotFoundError."""
    row: Mapping[str, Any] = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    return Scene(
        name=row["name"],
        scene=tuple(row["scene"]),
        about=row["about"],
        actors=tuple(row["actors"]),
        places=tuple(row["places"]),
        things=tuple(row["things"]),
        background=tuple(row["background"]),
        topics=tuple(Topic(**_frozen(topic)) for topic in row["topics"]),
        happenings=tuple(Happening(**_frozen(happening)) for happening in row["happenings"]),
        things_seen=tuple(Seen(**_frozen(seen)) for seen in row["things_seen"]),
        lines=tuple(row["lines"][0]["texts"]),
        words=tuple(row["lines"][0]["words"]),
        writing=row["writing"][0]["texts"][0],
        writing_kind=row["writing"][0]["kind"],
    )


def phrasings() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the sentences of questions by form ("time.moment"), each form with its two halves (phrasings.toml)."""
    read = tomllib.loads((FOLDER.parent / "phrasings.toml").read_text())
    return {f"{group}.{form}": halves for group, forms in read.items() for form, halves in forms.items()}


def _frozen(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
