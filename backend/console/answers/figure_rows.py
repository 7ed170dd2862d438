"""The figures of a report as rows of a table with a column for each arm, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from backend.console.templatetags.console import count, share, span, usd
from backend.questions.figures.arms import ArmFigures
from backend.questions.figures.report import Report


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _words(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.items()) or "–"


def _both(values: tuple[float | None, float | None]) -> str:
    return " / ".join(span(value) for value in values)


def _amounts(*amounts: Decimal | None) -> str:
    return " / ".join(usd(amount) for amount in amounts)


def _confidence(arm: ArmFigures) -> str:
    if arm.confidence is None:
        return "–"
    auroc = "–" if arm.confidence.auroc is None else f"{arm.confidence.auroc:.3f}"
    return f"{auroc} / {arm.confidence.calibration_error:.3f}"


_ROWS: tuple[tuple[str, Callable[[ArmFigures], str]], ...] = (
    ("accuracy (95 %)", lambda arm: share(arm.accuracy)),
    ("right of labeled", lambda arm: f"{arm.right} of {arm.labeled}"),
    ("accuracy of the answered", lambda arm: share(arm.accuracy_of_answered)),
    ("answered", lambda arm: f"{arm.answered} of {arm.n}"),
    ("abstained / refused / failed", lambda arm: f"{arm.abstained} / {arm.refused} / {arm.failed}"),
    ("evidence hit", lambda arm: share(arm.evidence_hit)),
    ("supported citations", lambda arm: f"{arm.citations_supported} of {arm.citations}"),
    ("cost", lambda arm: usd(arm.amounts.total)),
    ("mean cost of a question", lambda arm: usd(arm.amounts.mean)),
    ("cost of a question p50 / p95", lambda arm: _amounts(arm.amounts.p50, arm.amounts.p95)),
    ("model calls", lambda arm: count(arm.calls)),
    ("prompt tokens, cached", lambda arm: f"{count(arm.prompt_tokens)}, {_percent(arm.cached_share)}"),
    ("completion tokens", lambda arm: count(arm.completion_tokens)),
    ("frames", lambda arm: count(arm.frames)),
    ("engine time p50 / p95", lambda arm: _both(arm.engine_ms)),
    ("llm time p50 / p95", lambda arm: _both(arm.llm_ms)),
    ("AUROC / calibration error", _confidence),
    ("heads", lambda arm: ", ".join(arm.heads) or "–"),
    ("degraded", lambda arm: _words(arm.degraded)),
    ("graded by", lambda arm: _words(arm.graded_by)),
    ("version, prompts", lambda arm: ", ".join([*arm.versions, *arm.prompts]) or "–"),
)


def figure_rows(report: Report) -> list[tuple[str, list[str]]]:
    """Return (name of the figure, its value in each arm), in the order of the page."""
    return [(name, [value(arm) for arm in report.arms]) for name, value in _ROWS]


def kind_rows(report: Report) -> list[tuple[str, list[str]]]:
    """Return (kind of question, its accuracy in each arm) in the order of the kinds."""
    kinds = sorted({kind for arm in report.arms for kind in arm.by_kind})
    return [(kind, [share(arm.by_kind[kind]) for arm in report.arms]) for kind in kinds]


@dataclass(frozen=True, slots=True)
class RuleRows:
    """arms: (kind, label of its arm). accuracy, single: as shares in words."""

    arms: tuple[tuple[str, str], ...]
    accuracy: str
    single: str


def rule_rows(report: Report) -> RuleRows | None:
    """Return the rule by kind for the page; None without one."""
    if report.rule is None:
        return None
    arms = tuple((each.kind, report.arms[each.arm].label) for each in report.rule.arms)
    return RuleRows(arms, share(report.rule.accuracy), share(report.rule.single))
