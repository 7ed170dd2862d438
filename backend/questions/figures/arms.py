"""The figures of one arm: how often it is right, what is paid for it, how long it takes, what it had to do without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from backend.questions.figures.replies import ANSWERED, Item, Outcome, Reply
from backend.questions.paired import auroc, calibration_error, percentile, wilson


@dataclass(frozen=True, slots=True)
class Share:
    """A share of items with its 95 % Wilson interval; value is None without items."""

    successes: int
    n: int
    value: float | None
    low: float
    high: float

    @classmethod
    def of(cls, successes: int, n: int) -> Share:
        low, high = wilson(successes, n)
        return cls(successes, n, successes / n if n else None, low, high)


@dataclass(frozen=True, slots=True)
class Amounts:
    """Amounts of an arm's answers, such as their charges.

    mean, p50, p95: of one item; an item that was asked repeatedly has its mean.
    """

    total: Decimal
    mean: Decimal | None
    p50: Decimal | None
    p95: Decimal | None


@dataclass(frozen=True, slots=True)
class Confidence:
    """How well confidence separates right from wrong answers. auroc: None if either kind is missing."""

    auroc: float | None
    calibration_error: float
    n: int


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """Figures of one arm over the items that every arm was asked.

    n, answered, abstained, refused, failed: items by the outcome in this arm. accuracy: abstained, refused and failed
    items are wrong. accuracy_of_answered: of the items with an answer alone. cached_share: of the prompt tokens.
    engine_ms, llm_ms: (p50, p95). heads, versions, prompts: different values among the answers; confidence is None
    where the heads are not those of the first arm, because confidences of different heads cannot be compared.
    """

    label: str
    n: int
    answered: int
    abstained: int
    refused: int
    failed: int
    labeled: int
    right: int
    accuracy: Share
    accuracy_of_answered: Share
    by_kind: Mapping[str, Share]
    evidence_hit: Share
    citations: int
    citations_supported: int
    amounts: Amounts
    calls: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    cached_share: float | None
    frames: int
    engine_ms: tuple[float | None, float | None]
    llm_ms: tuple[float | None, float | None]
    confidence: Confidence | None
    degraded: Mapping[str, int]
    graded_by: Mapping[str, int]
    heads: tuple[str, ...]
    versions: tuple[str, ...]
    prompts: tuple[str, ...]


def arm_figures(
    arm: int, label: str, *, counted: Sequence[Item], graded: Sequence[Item], first_heads: tuple[str, ...]
) -> ArmFigures:
    """Return the figures of one arm. counted, graded: see replies.Sorted. first_heads: the heads of the first arm."""
    replies = [reply for item in counted for reply in item.replies[arm]]
    outcomes: Counter[Outcome] = Counter(item.outcome(arm) for item in counted)
    right = sum(item.outcome(arm) == "right" for item in graded)
    answered_and_graded = sum(item.outcome(arm) in ANSWERED for item in graded)
    prompt_tokens, cached_tokens = sum(r.prompt_tokens for r in replies), sum(r.cached_tokens for r in replies)
    hits = [hit for item in counted if (hit := item.hit(arm)) is not None]
    heads = heads_of(counted, arm)
    return ArmFigures(
        label=label,
        n=len(counted),
        answered=sum(outcomes[outcome] for outcome in ANSWERED),
        abstained=outcomes["abstained"],
        refused=outcomes["refused"],
        failed=outcomes["failed"],
        labeled=len(graded),
        right=right,
        accuracy=Share.of(right, len(graded)),
        accuracy_of_answered=Share.of(right, answered_and_graded),
        by_kind=_by_kind(graded, arm),
        evidence_hit=Share.of(sum(hits), len(hits)),
        citations=sum(reply.citations for reply in replies),
        citations_supported=sum(reply.supported for reply in replies),
        amounts=_amounts(counted, arm),
        calls=sum(reply.calls for reply in replies),
        prompt_tokens=prompt_tokens,
        cached_tokens=cached_tokens,
        completion_tokens=sum(reply.completion_tokens for reply in replies),
        cached_share=cached_tokens / prompt_tokens if prompt_tokens else None,
        frames=sum(reply.frames for reply in replies),
        engine_ms=_percentiles([reply.engine_ms for reply in replies]),
        llm_ms=_percentiles([reply.llm_ms for reply in replies]),
        confidence=_confidence(replies) if all(heads) and heads == first_heads else None,
        degraded=dict(sorted(Counter(word for reply in replies for word in reply.degraded).items())),
        graded_by=dict(sorted(Counter(reply.graded_by for reply in replies if reply.graded_by).items())),
        heads=tuple(head for head in heads if head),
        versions=_different(reply.version for reply in replies),
        prompts=_different(reply.prompts for reply in replies),
    )


def heads_of(counted: Sequence[Item], arm: int) -> tuple[str, ...]:
    """Return the different heads that drew an arm's answers, in order; "" stands for a head without a name."""
    replies = (reply for item in counted for reply in item.replies[arm] if reply.outcome in ANSWERED)
    return tuple(sorted({reply.head for reply in replies}))


def _by_kind(graded: Sequence[Item], arm: int) -> dict[str, Share]:
    totals = Counter(item.kind for item in graded if item.kind)
    right = Counter(item.kind for item in graded if item.outcome(arm) == "right")
    return {kind: Share.of(right[kind], n) for kind, n in sorted(totals.items())}


def _amounts(counted: Sequence[Item], arm: int) -> Amounts:
    total = sum((reply.amount for item in counted for reply in item.replies[arm]), Decimal(0))
    each = sorted(item.amount(arm) for item in counted)
    if not each:
        return Amounts(total, None, None, None)
    return Amounts(total, sum(each, Decimal(0)) / len(each), _between(each, 1, 2), _between(each, 19, 20))


def _between(ordered: Sequence[Decimal], part: int, whole: int) -> Decimal:
    """Return the percentile part/whole of sorted amounts as paired.percentile does, without leaving exact decimals."""
    below, rest = divmod(part * (len(ordered) - 1), whole)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * rest / whole


def _percentiles(values: Sequence[int | None]) -> tuple[float | None, float | None]:
    known = [float(value) for value in values if value is not None]
    return percentile(known, 0.5), percentile(known, 0.95)


def _confidence(replies: Sequence[Reply]) -> Confidence | None:
    """Return the value of confidence over all graded answers, repeats included; None without any."""
    rows = [
        (reply.confidence, reply.outcome == "right")
        for reply in replies
        if reply.outcome in {"right", "wrong"} and reply.confidence is not None
    ]
    if not rows:
        return None
    sure, right = [confidence for confidence, _ in rows], [flag for _, flag in rows]
    return Confidence(auroc(sure, right), calibration_error(sure, right), len(rows))


def _different(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(values) - {""}))
