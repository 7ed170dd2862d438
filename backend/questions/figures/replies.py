"""What each arm answered to each item, and the one outcome that an item has in an arm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, get_args

Outcome = Literal["right", "wrong", "ungraded", "abstained", "refused", "failed", "not_asked", "open"]
"""right, wrong, ungraded: there is an answer. abstained: the method ended without an answer, by its own decision or at
a limit. refused: the model declined. not_asked: the question was canceled or its video was deleted. open: queued or
running."""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
ANSWERED: frozenset[Outcome] = frozenset({"right", "wrong", "ungraded"})
SETTLED: frozenset[Outcome] = frozenset({"right", "wrong", "abstained", "refused", "failed"})
"""Outcomes that count in an accuracy; all but `right` count as wrong."""

_TIES: tuple[Outcome, ...] = ("failed", "refused", "abstained", "wrong")


@dataclass(frozen=True, slots=True)
class Reply:
    """One arm's reply to one item in one repeat.

    head: the name of the rule that drew the answer and its confidence. amount: what arms are compared by, such as the
    charge of the answer, without grading. hit: whether a citation overlaps a labeled span, None for an item without
    one. engine_ms: without queueing. llm_ms: summed over calls that may have run at once.
    """

    outcome: Outcome
    confidence: float | None = None
    head: str = ""
    amount: Decimal = Decimal(0)
    citations: int = 0
    supported: int = 0
    hit: bool | None = None
    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    frames: int = 0
    engine_ms: int | None = None
    llm_ms: int | None = None
    degraded: tuple[str, ...] = ()
    version: str = ""
    prompts: str = ""
    graded_by: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One question with the replies of every arm, in the order of arms; each arm has one reply for each repeat.

    labeled: whether the item has a true answer.
    """

    key: str
    replies: tuple[tuple[Reply, ...], ...]
    kind: str = ""
    labeled: bool = True

    def outcome(self, arm: int) -> Outcome:
        return outcome_of([reply.outcome for reply in self.replies[arm]])

    def amount(self, arm: int) -> Decimal:
        """Return the mean amount of the arm's repeats."""
        amounts = [reply.amount for reply in self.replies[arm]]
        return sum(amounts, Decimal(0)) / len(amounts) if amounts else Decimal(0)

    def hit(self, arm: int) -> bool | None:
        """Whether most of the arm's repeats cite a labeled span; None for an item without one."""
        hits = [reply.hit for reply in self.replies[arm] if reply.hit is not None]
        return 2 * sum(hits) > len(hits) if hits else None


def outcome_of(repeats: Sequence[Outcome]) -> Outcome:
    """Return the one outcome of an item's repeats in one arm, so that an item counts once.

    The item is right if more than half of its repeats are. Otherwise it has the commonest other outcome, and among
    equally common outcomes the worst: failed, refused, abstained, wrong. One repeat that is open, was not asked or has
    no grade leaves the item open, not asked or ungraded.
    """
    counts = Counter(repeats)
    if not counts:
        return "not_asked"
    for outcome in ("not_asked", "open", "ungraded"):
        if counts[outcome]:
            return outcome
    if 2 * counts["right"] > len(repeats):
        return "right"
    # With half of the repeats right, the item is not right, and the other half says why.
    return max(_TIES, key=lambda outcome: (counts[outcome], -_TIES.index(outcome)))


@dataclass(frozen=True, slots=True)
class Sorted:
    """Items by what they can say. counted: every arm replied. graded: of the counted items, all arms have an outcome
    with a grade. left_out: some arm could not ask the item. open: some arm has no outcome yet."""

    counted: tuple[Item, ...]
    graded: tuple[Item, ...]
    left_out: tuple[Item, ...]
    open: tuple[Item, ...]


def sort_items(items: Sequence[Item]) -> Sorted:
    """Sort items into what counts for every arm: an item that one arm could not ask leaves all arms."""
    outcomes: Mapping[str, list[Outcome]] = {
        item.key: [item.outcome(arm) for arm in range(len(item.replies))] for item in items
    }
    left_out = tuple(item for item in items if "not_asked" in outcomes[item.key])
    missing = {item.key for item in left_out}
    still_open = tuple(item for item in items if item.key not in missing and "open" in outcomes[item.key])
    missing |= {item.key for item in still_open}
    counted = tuple(item for item in items if item.key not in missing)
    graded = tuple(
        item
        for item in counted
        if (item.labeled or "right" in outcomes[item.key] or "wrong" in outcomes[item.key])
        and all(outcome in SETTLED for outcome in outcomes[item.key])
    )
    return Sorted(counted, graded, left_out, still_open)
