"""No text of 4,000 characters keeps a pattern of the product busy for longer than its length explains.

A regular expression holds the interpreter while it matches, so one that is quadratic stops a whole process.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.urls import get_resolver
from django.urls.resolvers import URLPattern, URLResolver

from gpu_workers.engine.answering.reading import time_words, times
from tests.patterns import Found, patterns_of_sources, worst_strings

pytestmark = pytest.mark.slow

LENGTH, PART = 4_000, 1_000
GROWTH = 2.5
"""How much faster than a linear pattern the time may grow from PART to LENGTH: a quadratic pattern grows by 4."""

_REFERENCE = re.compile(r"(\w+)\s")


def used(pattern: re.Pattern[str], way: str) -> Callable[[str], Any]:
    """Return how the product applies a pattern to a text."""
    if way in ("sub", "subn"):
        return lambda text: pattern.sub("", text)
    if way == "finditer":
        return lambda text: list(pattern.finditer(text))
    method: Callable[[str], Any] = getattr(pattern, way)
    return method


def seconds(apply: Callable[[str], Any], text: str, *, tries: int) -> float:
    """Return the processor time of the fastest of several runs: what other processes take does not count."""
    best = float("inf")
    for _ in range(tries):
        began = time.thread_time()
        apply(text)
        best = min(best, time.thread_time() - began)
    return best


def superlinear(found: Found) -> Iterator[str]:
    """Yield a description of each string on which a pattern's time grows faster than its length."""
    linear, part = (seconds(_REFERENCE.findall, "a " * (length // 2), tries=7) for length in (LENGTH, PART))
    for way in sorted(found.ways):
        apply = used(found.pattern, way)
        for long, short in zip(worst_strings(found.pattern, LENGTH), worst_strings(found.pattern, PART), strict=True):
            for tries in (1, 5):
                took = seconds(apply, long, tries=tries)
                growth = took / max(1e-7, seconds(apply, short, tries=tries)) if took > 2 * linear else 0.0
                if growth <= GROWTH * linear / part:
                    break
            else:
                yield f"{found.place} {way} {found.pattern.pattern[:80]!r}: {growth:.0f} on {long[:30]!r}"
                return


def url_patterns(resolver: URLResolver) -> Iterator[Found]:
    for entry in resolver.url_patterns:
        yield Found(f"route {entry.pattern}", entry.pattern.regex, frozenset({"search"}))  # type: ignore[union-attr]
        if isinstance(entry, URLResolver):
            yield from url_patterns(entry)
        else:
            assert isinstance(entry, URLPattern)


def tables_of_times(monkeypatch: pytest.MonkeyPatch) -> Iterator[Found]:
    """Yield the patterns that are built from the tables of the languages, and those over the kinds of their words."""
    rules: dict[str, re.Pattern[str]] = {}
    compiled = times._compiled

    def kept(pattern: str) -> re.Pattern[str]:
        return rules.setdefault(pattern, compiled(pattern))

    monkeypatch.setattr(times, "_compiled", kept)
    for language in time_words.LANGUAGES:
        times.times_in("What happened at 3:10 before the second delivery?", language)
        yield Found(f"times.toml {language}", time_words._table(language)[1], frozenset({"finditer"}))
    assert len(rules) > 10
    for rule, pattern in rules.items():
        yield Found(f"times.py {rule}", pattern, frozenset({"finditer"}))


def test_no_written_pattern_is_superlinear() -> None:
    found = patterns_of_sources()
    assert len(found) > 100
    assert [fault for pattern in found for fault in superlinear(pattern)] == []


def test_no_pattern_of_a_route_or_a_table_is_superlinear(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [*url_patterns(get_resolver()), *tables_of_times(monkeypatch)]
    assert [fault for pattern in found for fault in superlinear(pattern)] == []


@pytest.mark.parametrize("pattern", [r"\s+$", r"«[^»]*»", r"\s*;"])
def test_the_search_finds_superlinear_patterns(pattern: str) -> None:
    assert list(superlinear(Found("here", re.compile(pattern), frozenset({"search"}))))
