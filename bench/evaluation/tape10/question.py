"""A question about the tape with its exact answer, and the drawing of its words."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bench.evaluation.tape10.saying import LocalTime
from bench.evaluation.tape10.scenes import phrasings
from bench.evaluation.tape10.world import World
from gpu_workers.engine.ekg import Span

Kind = Literal["time", "clock", "words", "counts", "whole"]
KINDS: tuple[Kind, ...] = ("time", "clock", "words", "counts", "whole")
Rule = Literal["span", "moment", "end", "order", "nothing", "event", "number", "topics"]
"""How an answer is judged (scoring)."""


@dataclass(frozen=True, slots=True)
class TapeQuestion:
    """A question and what answers it. now: the instant at which it is asked, aware.

    span: the stretch that it names (rules span, moment, end, topics). moment: number of the event that answers it
    (rules order, event). anchor: number of the event that an order refers to. number: rule number. topics: the keys of
    each topic that the answer must name, and scene: the one that it asks about, "" for another question (rule topics).
    Rule nothing: the time lies outside the tape.
    """

    id: str
    kind: Kind
    form: str
    text: str
    now: datetime
    rule: Rule
    span: Span | None = None
    moment: int | None = None
    anchor: int | None = None
    number: int | None = None
    topics: tuple[tuple[str, ...], ...] = ()
    scene: str = ""


STRANGERS_FROM = 100
"""First seed that asks with the sentences of somebody who did not know the rules of the engine."""
VISITORS_FROM = 200
"""First seed that asks with those of eight kinds of people, whose writer did not know the rules either."""
NEWCOMERS_FROM = 300
"""First seed that asks with sentences that nobody who works on the reader has read."""


def half_of(seed: int) -> str:
    """Return the name of the sentences that a seed draws from."""
    if seed == 0:
        return "development"
    if seed < STRANGERS_FROM:
        return "held_out"
    if seed < VISITORS_FROM:
        return "strangers"
    return "visitors" if seed < NEWCOMERS_FROM else "newcomers"


class Drawing:
    """All that questions are drawn from. half: the sentences of this seed (phrasings.toml)."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.rng = random.Random(f"tape10 questions {world.seed}")
        self.half = half_of(world.seed)
        self.local = LocalTime(world)
        self._phrasings = {form: halves[self.half] for form, halves in phrasings().items()}
        self._left: dict[str, list[str]] = {}

    @property
    def minutes(self) -> int:
        """Return the length of the tape in whole minutes."""
        return self.world.span.end_ms // 60_000

    def sentence(self, form: str, slots: Mapping[str, str], *, without: Sequence[str] = ()) -> str:
        """Return a phrasing of the form with its slots filled, each phrasing about equally often.

        without: slots that have no value, so that no phrasing with one of them is chosen.
        """
        usable = [text for text in self._phrasings[form] if not any(f"{{{slot}" in text for slot in without)]
        left = [text for text in self._left.get(form, []) if text in usable]
        if not left:
            left = self.rng.sample(usable, len(usable))
            self._left[form] = left.copy()
        chosen = left[-1]
        self._left[form].remove(chosen)
        return chosen.format(**slots)


def capital(text: str) -> str:
    return text[0].upper() + text[1:]
