"""The rule that chooses an arm by a question's kind, measured on questions that did not make the rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from backend.questions.figures.arms import Share
from backend.questions.figures.replies import Item


@dataclass(frozen=True, slots=True)
class KindArm:
    """The arm that was right most often on the graded items of a kind."""

    kind: str
    arm: int


@dataclass(frozen=True, slots=True)
class KindRule:
    """The best arm of each kind as a rule, and what the rule is worth.

    arms: one for each kind, in order of the kinds. accuracy: of each item by the arm that the other items of its kind
    choose (leave-one-out), so that no item grades a rule that it helped to make. single: the same for the one arm that
    the other items of all kinds choose.
    """

    arms: tuple[KindArm, ...]
    accuracy: Share
    single: Share


def rule_by_kind(graded: Sequence[Item], amounts: Sequence[Decimal]) -> KindRule | None:
    """Return the rule over graded items; None with fewer than two kinds or arms, where there is nothing to choose.

    amounts: of each arm. Among arms that are right equally often on a kind the one counts that is right more often on
    all items, then the one of the lowest amount, then the first. Items without a kind are a kind of their own.
    """
    kinds = sorted({item.kind for item in graded})
    if len(kinds) < 2 or len(amounts) < 2:
        return None
    right = {item.key: [item.outcome(arm) == "right" for arm in range(len(amounts))] for item in graded}
    of_all = [sum(row[arm] for row in right.values()) for arm in range(len(amounts))]
    of_kind = {kind: [0] * len(amounts) for kind in kinds}
    for item in graded:
        of_kind[item.kind] = [n + flag for n, flag in zip(of_kind[item.kind], right[item.key], strict=True)]

    def best(*scores: Sequence[int]) -> int:
        return min(range(len(amounts)), key=lambda arm: (*(-score[arm] for score in scores), amounts[arm], arm))

    hits: Counter[str] = Counter()
    for item in graded:
        row = right[item.key]
        others, alike = _less(of_all, row), _less(of_kind[item.kind], row)
        hits["rule"] += row[best(alike, others)]
        hits["single"] += row[best(others)]
    return KindRule(
        tuple(KindArm(kind, best(of_kind[kind], of_all)) for kind in kinds),
        Share.of(hits["rule"], len(graded)),
        Share.of(hits["single"], len(graded)),
    )


def _less(counts: Sequence[int], row: Sequence[bool]) -> list[int]:
    return [count - flag for count, flag in zip(counts, row, strict=True)]
