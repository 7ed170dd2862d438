"""What came of the questions of a manifest: graded rows, a report and a table over arms."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from typing import Any, get_args

from backend.questions.figures.grading import same_words
from backend.questions.paired import percentile
from bench.evaluation.report import ItemResult, Measured, Run, report
from bench.evaluation.statistics import compare, wilson
from bench.evaluation.videos.manifest import VideoQuestion
from bench.evaluation.videos.verdicts import Grade, Judged, plain, span_name, supports, verdict
from gpu_workers.engine.ekg import Span

GRADES: tuple[Grade, ...] = get_args(Grade)
LOCATED = 0.3
"""Intersection over union from which the first citation counts as the marked span (Ego4D NLQ reports 0.3 and 0.5)."""


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """A citation of an answer. event: words of the cited event. frame: name of its picture next to the answers."""

    start_s: float
    end_s: float
    status: str
    quote: str = ""
    event: str = ""
    frame: str = ""

    @property
    def span(self) -> Span:
        start = round(1000 * self.start_s)
        return Span(start, max(start + 1, round(1000 * self.end_s)))


@dataclass(frozen=True, slots=True)
class VideoAnswer:
    """The answer to a question, whoever gave it. text: "" without an answer. decided: deciding.decided_by. calls,
    tokens: of language and vision models. cost: None where nothing has a price. latency_ms: from asking to the answer,
    without a queue. model_ms: summed over calls that may have run at once."""

    text: str
    choice: int | None
    finish_reason: str
    decided: str
    detail: str = ""
    confidence: float | None = None
    head: str = ""
    citations: tuple[CitedSpan, ...] = ()
    degraded: tuple[str, ...] = ()
    calls: int = 0
    failed_calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    frames: int = 0
    cost: Decimal | None = None
    latency_ms: int = 0
    model_ms: int = 0
    version: str = ""
    prompts: str = ""


@dataclass(frozen=True, slots=True)
class VideoResult:
    """A row of a run. truth: that of the manifest. cost: exact decimal, None without prices. located: intersection over
    union of the first citation with the marked span that fits it best, None without marks."""

    item: ItemResult
    video: str
    grade: Grade
    citations: tuple[CitedSpan, ...] = ()
    truth: int | str | None = None
    cost: str | None = None
    located: float | None = None
    choices: tuple[str, ...] = field(default=())

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> VideoResult:
        cited = tuple(CitedSpan(**each) for each in row["citations"])
        item = ItemResult.read(row["item"])
        return cls(**{**row, "item": item, "citations": cited, "choices": tuple(row["choices"])})


def graded(question: VideoQuestion, answer: VideoAnswer, judged: Judged) -> VideoResult:
    """Return the row of an answer."""
    grade = _grade(question, answer, judged)
    shown = [cited.span for cited in answer.citations]
    hit = any(one.overlaps(span) for one in shown for span in question.spans) if question.spans else None
    item = ItemResult(
        question.id,
        question.kind,
        {1: grade == "right"},
        answer.choice,
        question.truth if isinstance(question.truth, int) else None,
        answer.confidence,
        answer.finish_reason,
        answer.detail,
        answer.calls,
        answer.prompt_tokens,
        answer.cached_tokens,
        answer.completion_tokens,
        answer.model_ms / 1000,
        degraded=answer.degraded,
        failed_calls=answer.failed_calls,
        head=answer.head,
        decided=answer.decided,
        question=question.text,
        answer=answer.text,
        measured=Measured(
            answer.calls,
            answer.prompt_tokens,
            answer.cached_tokens,
            answer.completion_tokens,
            len(answer.citations),
            sum(cited.status == "supported" for cited in answer.citations),
            hit,
            answer.frames,
            answer.latency_ms,
            answer.model_ms,
            answer.version,
            answer.prompts,
        ),
    )
    located = max((_overlap(shown[0], span) for span in question.spans), default=0.0) if shown else 0.0
    return VideoResult(
        item,
        question.video,
        grade,
        answer.citations,
        question.truth,
        None if answer.cost is None else str(answer.cost),
        located if question.spans else None,
        question.choices,
    )


def _grade(question: VideoQuestion, answer: VideoAnswer, judged: Judged) -> Grade:
    if answer.choice is None and not answer.text:
        return "abstained" if answer.finish_reason == "insufficient_evidence" else "failed"
    if question.choices:
        return "right" if answer.choice == question.truth else "wrong"
    if isinstance(question.truth, str) and same_words(answer.text, question.truth):
        return "right"
    return verdict(question.video, question.text, answer.text, judged)


def again(rows: Sequence[VideoResult], judged: Judged) -> list[VideoResult]:
    """Return rows with the verdicts of today: a person judges open answers after they were given."""
    return [
        replace(row, grade=said, item=replace(row.item, right={1: said == "right"}))
        if row.grade == "unjudged"
        and (said := verdict(row.video, row.item.question, row.item.answer, judged)) != "unjudged"
        else row
        for row in rows
    ]


def _overlap(one: Span, other: Span) -> float:
    """Return the intersection over union of two spans."""
    shared = min(one.end_ms, other.end_ms) - max(one.start_ms, other.start_ms)
    return max(0, shared) / (max(one.end_ms, other.end_ms) - min(one.start_ms, other.start_ms))


def arm_report(run: Run, rows: Sequence[VideoResult], judged: Judged) -> dict[str, Any]:
    """Return the report of one arm: that of `make eval` over the graded rows, with what only files of video have."""
    decided_rows = [row for row in rows if row.grade != "unjudged"]
    measured = [row.item.measured or Measured() for row in rows]
    hits = [one.hit for one in measured if one.hit is not None]
    located = [row.located >= LOCATED for row in rows if row.located is not None]
    cited, supported = sum(one.citations for one in measured), sum(one.supported for one in measured)
    costs = [Decimal(row.cost) for row in rows if row.cost is not None]
    latencies = sorted((one.engine_ms or 0) / 1000 for one in measured)
    said: Counter[bool | None] = Counter(
        supports(row.video, row.item.question, row.item.answer, span_name((cited.start_s, cited.end_s)), judged)
        for row in rows
        for cited in row.citations
        if cited.status == "supported"
    )
    return {
        **report(run, [row.item for row in decided_rows]),
        "asked": len(rows),
        "grades": {grade: sum(row.grade == grade for row in rows) for grade in GRADES},
        "decided": dict(Counter(row.item.decided for row in rows if row.item.decided)),
        "citations": {"n": cited, "supported": supported, "share": supported / cited if cited else None},
        "judged_citations": {"support": said[True], "do_not": said[False], "unjudged": said[None]},
        "span_hits": _share(hits),
        f"first_citation_iou_{LOCATED}": _share(located),
        "cost": {"total": str(sum(costs)), "mean": str(sum(costs) / len(costs))} if costs else None,
        "latency_s": {"p50": percentile(latencies, 0.5), "p95": percentile(latencies, 0.95)},
        "items": [asdict(row) for row in rows],
    }


def _share(flags: Sequence[bool]) -> dict[str, Any] | None:
    if not flags:
        return None
    return {
        "n": len(flags),
        "hits": sum(flags),
        "share": statistics.fmean(flags),
        "ci95": wilson(sum(flags), len(flags)),
    }


def table(reports: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a line per arm, a line per kind of it, and each later arm compared with the first."""
    lines = [_line([column for column, _ in COLUMNS])]
    for label, body in reports.items():
        lines.append(_line(_cells(label, body)))
        for kind, group in body["by_type"].items():
            lines.append(_line([f"  {kind}", str(group["n"]), _accuracy(group)]))
    first, *others = reports.items()
    for label, body in others:
        found = compare(_rights(body), _rights(first[1]))
        if found.n:
            lines.append(
                f"{label} against {first[0]}: {found.difference:+.1%} ({found.interval[0]:+.1%} to "
                f"{found.interval[1]:+.1%}) on {found.n}, gained {found.gained}, lost {found.lost}, "
                f"McNemar p {found.p_value:.4f}"
            )
    return "\n".join(lines)


COLUMNS = (
    ("arm", -34), ("n", 4), ("accuracy (95 %)", 24), ("macro-F1", 8), ("abstained", 9), ("failed", 6), ("unjudged", 8),
    ("calls", 6), ("tokens", 8), ("cost", 9), ("p50 s", 7), ("p95 s", 7), ("supported", 10), ("span hits", 10),
    ("decided by", -10),
)  # fmt: skip
"""Name and width of each column; a negative width aligns to the left."""


def _cells(label: str, body: Mapping[str, Any]) -> list[str]:
    """Return the cells of an arm, one for each of COLUMNS."""
    each, grades, cited, hits = body["per_item"], body["grades"], body["citations"], body["span_hits"]
    by_choice = any(row["item"]["truth"] is not None for row in body["items"])
    return [
        label,
        str(body["n"]),
        _accuracy(body),
        f"{body['macro_f1']:.1%}" if by_choice else "-",
        *(str(grades[grade]) for grade in ("abstained", "failed", "unjudged")),
        f"{each['calls']:.1f}",
        f"{each['prompt_tokens'] + each['completion_tokens']:.0f}",
        body["cost"]["mean"][:9] if body["cost"] else "-",
        *(_number(body["latency_s"][name]) for name in ("p50", "p95")),
        f"{cited['supported']} of {cited['n']}",
        f"{hits['hits']} of {hits['n']}" if hits else "-",
        ", ".join(f"{what} {n}" for what, n in sorted(body["decided"].items())) or "-",
    ]


def _line(cells: Sequence[str]) -> str:
    placed = zip(cells, (width for _, width in COLUMNS), strict=False)
    return " ".join(cell.rjust(width) if width > 0 else cell.ljust(-width) for cell, width in placed).rstrip()


def _accuracy(body: Mapping[str, Any]) -> str:
    low, high = body["ci95"]
    return f"{body['accuracy']:.1%} ({low:.1%} to {high:.1%})" if body["n"] else "-"


def unjudged(rows: Sequence[VideoResult], judged: Judged) -> dict[str, Any]:
    """Return what nobody has judged yet, in the form of a file of verdicts."""
    answers: dict[str, Any] = {}
    citations: dict[str, Any] = {}
    for row in rows:
        if row.choices or not row.item.answer:
            continue
        if row.grade == "unjudged":
            answers.setdefault(row.video, {}).setdefault(row.item.question, {})[plain(row.item.answer)] = ""
        for cited in row.citations:
            name = span_name((cited.start_s, cited.end_s))
            where = (row.video, row.item.question, row.item.answer)
            if cited.status == "supported" and supports(*where, name, judged) is None:
                of_question = citations.setdefault(row.video, {}).setdefault(row.item.question, {})
                of_question.setdefault(plain(row.item.answer), {})[name] = None
    return {"answers": answers, "citations": citations}


def _rights(body: Mapping[str, Any]) -> dict[str, bool]:
    rows = [VideoResult.read(row) for row in body["items"]]
    return {row.item.id: row.item.right[1] for row in rows if row.grade != "unjudged"}


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
