"""The sentences that routes write themselves, in the language of the answer: tables of phrases.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Literal

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.languages.codes import ENGLISH

Sureness = Literal["exactly", "at_least", "about"]
"""How a number was measured. exactly: everything was read and judged. at_least: something was not read. about: tracks,
events or words were joined or compared, not judged one by one."""

MOMENTS_SHOWN = 40
"""Maximum number of times that a text names."""


class Phrases:
    """The sentences of one language, by the names that phrases.toml explains."""

    def __init__(self, table: Mapping[str, str]) -> None:
        self._table = table

    def __call__(self, name: str, **values: object) -> str:
        """Return a sentence with these values in its places."""
        return self._table[name].format(**values)

    def times(self, sure: Sureness, n: int, moments: Iterable[str] = ()) -> str:
        """Return how often something is so, as "about 5 times: 0:01:05, 0:02:00, and 3 more"."""
        often = self("once" if n == 1 else "times", number=self(sure, n=n))
        named = self.listed(moments)
        return f"{often}: {named}" if named else often

    def listed(self, items: Iterable[str], most: int = MOMENTS_SHOWN) -> str:
        """Return items in a row, each once; those beyond the first ones are counted."""
        shown = list(dict.fromkeys(items))
        more = [self("more", n=len(shown) - most)] if len(shown) > most else []
        return ", ".join([*shown[:most], *more])


def opening(text: str) -> str:
    """Return text as the beginning of a sentence, with a capital."""
    return text[:1].upper() + text[1:]


def phrases_of(asked: Asked) -> Phrases:
    """Return the phrases of the language that the caller wants, else of the question's; English if it has no table."""
    tables = phrase_tables()
    return Phrases(tables.get(asked.question.language or asked.understood.language, tables[ENGLISH]))


@cache
def phrase_tables() -> Mapping[str, Mapping[str, str]]:
    """Return the sentences by language and name."""
    return tomllib.loads(resources.files(__package__).joinpath("phrases.toml").read_text(encoding="utf-8"))
