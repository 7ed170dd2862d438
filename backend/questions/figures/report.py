"""The report of a comparison: the figures of every arm, and what the arms' pairs can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from backend.questions.figures.arms import ArmFigures, arm_figures, heads_of
from backend.questions.figures.replies import Item, sort_items
from backend.questions.figures.rules import KindRule, rule_by_kind
from backend.questions.paired import difference_interval, fourfold, holm, mcnemar, smallest_difference

Group = Literal["both_cheaper", "both_dearer", "gained_cheaper", "gained_dearer", "lost_cheaper", "lost_dearer"]
GROUPS: tuple[Group, ...] = (
    "both_cheaper", "both_dearer", "gained_cheaper", "gained_dearer", "lost_cheaper", "lost_dearer",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pair:
    """One arm compared with another, item by item, over the graded items.

    gained: the arm alone is right; lost: the other alone. difference: of accuracies, with its 95 % interval
    (paired.difference_interval). p_value: McNemar's exact test; p_corrected: by Holm over all pairs of the report.
    amount_ratio: the arm's amount by the other's over the counted items, None if the other's is zero. groups: items
    that some arm of the pair got right, by who was right and whether the arm was cheaper (or as dear) or dearer, after
    arXiv 2607.01469. smallest_difference: see paired.smallest_difference.
    """

    arm: int
    against: int
    n: int
    both: int
    gained: int
    lost: int
    neither: int
    difference: float
    low: float
    high: float
    p_value: float
    p_corrected: float
    amount_ratio: float | None
    groups: dict[Group, int]
    smallest_difference: float | None

    @property
    def can_show(self) -> str:
        """What so many questions can show, as a sentence."""
        if not self.n:
            return "No question has a grade in both arms, so the arms cannot be compared."
        questions = "1 question" if self.n == 1 else f"{self.n} questions"
        if self.smallest_difference is None:
            return f"Both arms agree on {questions}, so there is no difference to show."
        return f"{questions} can show a difference of {100 * self.smallest_difference:.1f} points or more."


@dataclass(frozen=True, slots=True)
class Report:
    """The report of a comparison.

    items: all items. counted: items that every arm replied to. left_out: items that some arm could not ask; they leave
    all arms. open: items without an outcome in some arm. ungraded: counted items without a grade in some arm. best:
    the arm of the highest accuracy, of equal ones the cheapest; None without graded items. frontier: the arms that no
    other arm beats in accuracy without a higher amount. oracle: items that at least one arm got right. rule: the best
    arm of each kind, None where there is nothing to choose.
    """

    items: int
    counted: int
    left_out: int
    open: int
    labeled: int
    ungraded: int
    arms: tuple[ArmFigures, ...]
    pairs: tuple[Pair, ...]
    best: int | None
    frontier: tuple[int, ...]
    oracle: int
    rule: KindRule | None


def compare_arms(items: Sequence[Item], labels: Sequence[str]) -> Report:
    """Return the report over items whose replies are in the order of the arms' labels."""
    of = sort_items(items)
    heads = heads_of(of.counted, 0) if labels else ()
    arms = tuple(
        arm_figures(arm, label, counted=of.counted, graded=of.graded, first_heads=heads)
        for arm, label in enumerate(labels)
    )
    ranked = _ranked(arms) if of.graded else []
    chosen = [(arm, 0) for arm in range(1, len(labels))]
    if len(ranked) > 1 and not {(ranked[0], ranked[1]), (ranked[1], ranked[0])} & set(chosen):
        chosen.append((ranked[0], ranked[1]))
    pairs = [_pair(arm, against, counted=of.counted, graded=of.graded) for arm, against in chosen]
    corrected = holm([pair.p_value for pair in pairs])
    return Report(
        items=len(items),
        counted=len(of.counted),
        left_out=len(of.left_out),
        open=len(of.open),
        labeled=len(of.graded),
        ungraded=len(of.counted) - len(of.graded),
        arms=arms,
        pairs=tuple(replace(pair, p_corrected=p) for pair, p in zip(pairs, corrected, strict=True)),
        best=ranked[0] if ranked else None,
        frontier=frontier(arms),
        oracle=sum(any(item.outcome(arm) == "right" for arm in range(len(labels))) for item in of.graded),
        rule=rule_by_kind(of.graded, [arm.amounts.total for arm in arms]),
    )


def frontier(arms: Sequence[ArmFigures]) -> tuple[int, ...]:
    """Return the arms that no other arm dominates: at least as accurate, not dearer, and better in one of the two."""
    points = [(arm.accuracy.value, arm.amounts.mean) for arm in arms]

    def dominated(here: int) -> bool:
        accuracy, amount = points[here]
        return any(
            other is not None and price is not None and accuracy is not None and amount is not None
            and other >= accuracy and price <= amount and (other, price) != (accuracy, amount)
            for other, price in points
        )  # fmt: skip

    return tuple(arm for arm in range(len(arms)) if points[arm][0] is not None and not dominated(arm))


def _ranked(arms: Sequence[ArmFigures]) -> list[int]:
    return sorted(range(len(arms)), key=lambda arm: (-(arms[arm].accuracy.value or 0.0), arms[arm].amounts.total, arm))


def _pair(arm: int, against: int, *, counted: Sequence[Item], graded: Sequence[Item]) -> Pair:
    here = [item.outcome(arm) == "right" for item in graded]
    there = [item.outcome(against) == "right" for item in graded]
    table = fourfold(here, there)
    low, high = difference_interval(table)
    spent, other = (sum((item.amount(side) for item in counted), Decimal(0)) for side in (arm, against))
    return Pair(
        arm=arm,
        against=against,
        n=table.n,
        both=table.both,
        gained=table.gained,
        lost=table.lost,
        neither=table.neither,
        difference=table.difference,
        low=low,
        high=high,
        p_value=mcnemar(table.gained, table.lost),
        p_corrected=1.0,
        amount_ratio=float(spent / other) if other else None,
        groups=_groups(graded, here, there, arm, against),
        smallest_difference=smallest_difference(table.n, table.discordant),
    )


def _groups(
    graded: Sequence[Item], here: Sequence[bool], there: Sequence[bool], arm: int, against: int
) -> dict[Group, int]:
    counts = dict.fromkeys(GROUPS, 0)
    for item, right, other in zip(graded, here, there, strict=True):
        if not (right or other):
            continue
        who = "both" if right and other else "gained" if right else "lost"
        counts[f"{who}_{'cheaper' if item.amount(arm) <= item.amount(against) else 'dearer'}"] += 1  # type: ignore[index]
    return counts
