"""The report of an evaluation: one JSON object, comparable with other reports of the same set."""

from __future__ import annotations

import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.evaluation.statistics import auroc, calibration_error, compare, macro_f1, wilson

BEYOND = "topics_beyond"
"""Signal of an answer that should name topics: how many it names that were not asked for."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a comparison of the product counts of an answer. calls, tokens: of all models. cached_tokens: as customers
    see them. supported: citations that support their claim. hit: whether a citation shows some of a marked span, None
    without marks. engine_ms: of the whole answer. llm_ms: summed over calls that may have run at once. version,
    prompts: of the method."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    citations: int = 0
    supported: int = 0
    hit: bool | None = None
    frames: int = 0
    engine_ms: int | None = None
    llm_ms: int | None = None
    version: str = ""
    prompts: str = ""


@dataclass(frozen=True, slots=True)
class ItemResult:
    """The result of one question or query. right: by rank at which the set is measured; choice questions have rank 1
    only. given, truth: choices or numbers, None if the arm abstained or the item is a query. head: name of the rule
    that drew the answer and its confidence, "" without one. decided: what made the choice (deciding.decided_by), "" for
    an arm that is no method of the engine. question, answer: their words, and understood: what the
    engine understood, where a person may want to read them. calls, tokens: of the reasoner. measured: None for an arm
    that is no method of the engine. votes: of each SA node, (choice, agreement, thought consistency) of each sample
    that chose; `python -m bench.trade_off` forms S from them."""

    id: str
    kind: str
    right: Mapping[int, bool]
    given: int | None = None
    truth: int | None = None
    confidence: float | None = 0.0
    finish_reason: str = "answered"
    detail: str = ""
    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    signals: Mapping[str, float] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()
    failed_calls: int = 0
    head: str = ""
    decided: str = ""
    question: str = ""
    answer: str = ""
    understood: Mapping[str, Any] = field(default_factory=dict)
    measured: Measured | None = None
    votes: Sequence[Sequence[Sequence[float]]] = ()

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> ItemResult:
        right = {int(rank): bool(hit) for rank, hit in row["right"].items()}
        measured = Measured(**row["measured"]) if row.get("measured") else None
        votes = tuple(tuple(tuple(vote) for vote in node) for node in row.get("votes", ()))
        degraded = tuple(row.get("degraded", ()))
        return cls(**{**row, "right": right, "degraded": degraded, "votes": votes, "measured": measured})


@dataclass(frozen=True, slots=True)
class Run:
    """The parameters of a run. reasoner: the model's name, "" without a reasoner. event_words: length of the events
    that captions were joined to, 0 if they were merged like a described video."""

    set: str
    arm: str
    seed: int
    limit: int | None
    reasoner: str
    embedder: str
    measure: str
    event_words: int = 0


def report(
    run: Run, items: Sequence[ItemResult], others: Iterable[tuple[str, Mapping[str, Any]]] = ()
) -> dict[str, Any]:
    """Return accuracy (of choices) or recall at each rank, with 95 % intervals; per type; cost; calibration; and an
    item-by-item comparison with each other report. others: (path, report)."""
    ranks = sorted(items[0].right) if items else [1]
    first = {item.id: item.right[ranks[0]] for item in items}
    body: dict[str, Any] = {**asdict(run), "n": len(items)}
    if run.measure == "accuracy":
        body |= {"accuracy": _share(items, 1), "ci95": _interval(items, 1)}
        chosen = [(item.given, item.truth) for item in items if item.truth is not None]
        body["macro_f1"] = macro_f1([given for given, _ in chosen], [truth for _, truth in chosen])
        body["decided"] = dict(Counter(item.decided for item in items if item.decided))
        body["by_type"] = {
            kind: {"n": len(group), "accuracy": _share(group, 1), "ci95": _interval(group, 1), **_beyond(group)}
            for kind, group in sorted(_by_kind(items).items())
            if kind
        }
        body["confidence"] = _confidence(items)
    else:
        body["recall"] = {f"R@{rank}": {"value": _share(items, rank), "ci95": _interval(items, rank)} for rank in ranks}
    body["abstained"] = sum(item.given is None for item in items) if run.measure == "accuracy" else 0
    body["finish_reasons"] = dict(Counter(item.finish_reason for item in items))
    body["details"] = dict(Counter(item.detail for item in items if item.detail))
    body["degraded"] = dict(Counter(word for item in items for word in item.degraded))
    body["failed_calls"] = sum(item.failed_calls for item in items)
    body["per_item"] = {
        name: _mean(getattr(item, name) for item in items)
        for name in ("calls", "prompt_tokens", "cached_tokens", "completion_tokens", "seconds")
    }
    body["against"] = [_against(first, ranks, items, path, other) for path, other in others]
    body["items"] = [asdict(item) for item in items]
    return body


def summary(body: Mapping[str, Any]) -> str:
    """Return the report in a few lines, for people."""
    lines = [f"{body['set']} {body['arm']}: n {body['n']}, {body['reasoner'] or 'no language model'}"]
    if body["measure"] == "accuracy":
        low, high = body["ci95"]
        lines.append(
            f"accuracy {body['accuracy']:.1%} (95 % {low:.1%} to {high:.1%}), macro-F1 {body['macro_f1']:.1%}, "
            f"abstained {body['abstained']}"
        )
        if body["decided"]:
            lines.append("decided by " + ", ".join(f"{what} ({n})" for what, n in sorted(body["decided"].items())))
        for kind, group in body["by_type"].items():
            beyond = f", names only what was asked for {group['only_asked']:.1%}" if "only_asked" in group else ""
            lines.append(f"  {kind}: n {group['n']}, accuracy {group['accuracy']:.1%}{beyond}")
        sure = body["confidence"]
        if sure["auroc"] is not None:
            lines.append(f"confidence: AUROC {sure['auroc']:.3f}, calibration error {sure['calibration_error']:.3f}")
    if body["failed_calls"]:
        lines.append(f"{body['failed_calls']} calls of models failed: ask those questions again")
    if body["degraded"]:
        lines.append("without: " + ", ".join(f"{word} ({n} items)" for word, n in body["degraded"].items()))
    for rank, share in body.get("recall", {}).items():
        low, high = share["ci95"]
        lines.append(f"{body['measure']} {rank} {share['value']:.1%} (95 % {low:.1%} to {high:.1%})")
    each = body["per_item"]
    lines.append(
        f"each: {each['calls']:.1f} calls, {each['prompt_tokens']:.0f} prompt and {each['completion_tokens']:.0f} "
        f"written tokens, {each['seconds']:.1f} s of models"
    )
    for other in body["against"]:
        low, high = other["interval"]
        smallest = f"; so many items can show {other['smallest']:.1%}" if other["smallest"] else ""
        lines.append(
            f"against {other['arm']}: {other['difference']:+.1%} ({low:+.1%} to {high:+.1%}) on {other['n']} items, "
            f"gained {other['gained']}, lost {other['lost']}, McNemar p {other['p_value']:.4f}{smallest}"
        )
    return "\n".join(lines)


def read_report(path: Path, *, of: str) -> dict[str, Any]:
    """Return a report of the set `of`. Raises ValueError if the file is no such report."""
    try:
        body: dict[str, Any] = json.loads(path.read_text())
        header = body["set"], body["arm"], body["items"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ValueError(f"{path} is no report: {type(error).__name__}: {error}") from error
    if header[0] != of:
        raise ValueError(f"{path} is a report of {header[0]}, not of {of}")
    return body


def _against(
    first: Mapping[str, bool], ranks: Sequence[int], items: Sequence[ItemResult], path: str, other: Mapping[str, Any]
) -> dict[str, Any]:
    theirs = [ItemResult.read(row) for row in other["items"]]
    compared = asdict(compare(first, {item.id: item.right[ranks[0]] for item in theirs}))
    body = {"report": path, "arm": other["arm"], **compared}
    for rank in ranks[1:]:
        here, there = ({item.id: item.right[rank] for item in side} for side in (items, theirs))
        body[f"R@{rank}"] = asdict(compare(here, there))
    return body


def _by_kind(items: Sequence[ItemResult]) -> dict[str, list[ItemResult]]:
    groups: defaultdict[str, list[ItemResult]] = defaultdict(list)
    for item in items:
        groups[item.kind].append(item)
    return groups


def _beyond(items: Sequence[ItemResult]) -> dict[str, float]:
    """Return the share of the answers that name no topic beyond those that were asked for, if it was counted."""
    counted = [item.signals[BEYOND] for item in items if BEYOND in item.signals]
    return {"only_asked": _mean(number == 0 for number in counted)} if counted else {}


def _share(items: Sequence[ItemResult], rank: int) -> float:
    return _mean(item.right[rank] for item in items)


def _interval(items: Sequence[ItemResult], rank: int) -> tuple[float, float]:
    return wilson(sum(item.right[rank] for item in items), len(items))


def _confidence(items: Sequence[ItemResult]) -> dict[str, float | None]:
    """Return AUROC and calibration error of the answers that have a confidence; None for both without any."""
    answered = [(item.confidence, item.right[1]) for item in items if item.given is not None]
    rows = [(sure, right) for sure, right in answered if sure is not None]
    if not rows:
        return {"auroc": None, "calibration_error": None}
    sure, right = [value for value, _ in rows], [flag for _, flag in rows]
    return {"auroc": auroc(sure, right), "calibration_error": calibration_error(sure, right)}


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return statistics.fmean(numbers) if numbers else 0.0
