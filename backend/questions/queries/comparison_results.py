"""Reads of what each arm answered to the items of a comparison, for the figures, the API and the console."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import BigIntegerField, QuerySet, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

from backend.questions.cached_tokens import coarse
from backend.questions.figures.replies import Item, Outcome, Reply
from backend.questions.figures.report import Report, compare_arms
from backend.questions.models import (
    OPEN,
    Comparison,
    ComparisonItem,
    Evidence,
    Feedback,
    Grade,
    Grader,
    Node,
    Question,
    QuestionStatus,
)
from backend.tenancy.models import TenantRow

Rows = Callable[[type[TenantRow]], QuerySet[Any]]
"""Returns the rows of a model that the caller may see: those of the entered tenant, or of all tenants."""


AmountOf = Callable[[Question], Decimal]
"""Returns what arms are compared by: the charge of an answer for customers, its cost for staff."""


def charge_of(question: Question) -> Decimal:
    """Return what an answer is charged."""
    charge: Decimal = question.charge_amount
    return charge


def cost_of(question: Question) -> Decimal:
    """Return what an answer cost to run, for the console alone."""
    cost: Decimal = question.cost_amount
    return cost


def of_tenant(model: type[TenantRow]) -> QuerySet[Any]:
    """Return the entered tenant's rows."""
    rows: QuerySet[Any] = model.objects.all()
    return rows


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a comparison with its reply for the figures, its citations and the customer's feedback."""

    question: Question
    reply: Reply
    evidence: tuple[Evidence, ...]
    feedback: Feedback | None


@dataclass(frozen=True, slots=True)
class ItemResults:
    """An item with the questions of every arm, in the order of arms and then of repeats."""

    item: ComparisonItem
    arms: tuple[tuple[Asked, ...], ...]

    @property
    def labeled(self) -> bool:
        """Whether the item has a true answer."""
        return self.item.correct_choice is not None or bool(self.item.correct_answer)

    @property
    def figures(self) -> Item:
        """Return the item as the figures count it."""
        replies = tuple(tuple(asked.reply for asked in repeats) for repeats in self.arms)
        return Item(str(self.item.position), replies, kind=self.item.kind, labeled=self.labeled)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Return the item's outcome in each arm."""
        figures = self.figures
        return tuple(figures.outcome(arm) for arm in range(len(self.arms)))

    @property
    def answers(self) -> tuple[Asked, ...]:
        """Return the questions of all arms, by arm and repeat."""
        return tuple(asked for repeats in self.arms for asked in repeats)


def results_of(
    comparison: Comparison, items: Sequence[ComparisonItem], rows: Rows = of_tenant, amount_of: AmountOf = charge_of
) -> list[ItemResults]:
    """Return the results of items of a comparison, in the items' order, in four statements."""
    of_items = {item.id: item for item in items}
    questions = list(
        rows(Question)
        .filter(comparison_id=comparison.id, comparison_item_id__in=list(of_items))
        .order_by("comparison_arm", "repeat", "id")
    )
    ids = [question.id for question in questions]
    evidence: defaultdict[UUID, list[Evidence]] = defaultdict(list)
    for citation in rows(Evidence).filter(question_id__in=ids).order_by("question_id", "ordinal"):
        evidence[citation.question_id].append(citation)
    feedback = {row.question_id: row for row in rows(Feedback).filter(question_id__in=ids)}
    frames = frames_used(ids, rows)
    asked: defaultdict[tuple[UUID, int], list[Asked]] = defaultdict(list)
    for question in questions:
        item, verdict = of_items[question.comparison_item_id], feedback.get(question.id)
        cited = tuple(evidence[question.id])
        reply = reply_of(
            question,
            item,
            evidence=cited,
            feedback=verdict,
            frames=frames.get(question.id, 0),
            amount=amount_of(question),
        )
        asked[item.id, question.comparison_arm].append(Asked(question, reply, cited, verdict))
    arms = range(len(comparison.arms))
    return [ItemResults(item, tuple(tuple(asked[item.id, arm]) for arm in arms)) for item in items]


def report_of(comparison: Comparison, rows: Rows = of_tenant) -> Report:
    """Return the report of a comparison as it is now."""
    items = list(rows(ComparisonItem).filter(comparison_id=comparison.id).order_by("position"))
    return compare_results(comparison, results_of(comparison, items, rows))


def compare_results(comparison: Comparison, results: Iterable[ItemResults]) -> Report:
    """Return the report over results."""
    labels = [arm["label"] for arm in comparison.arms]
    return compare_arms([result.figures for result in results], labels)


def frames_used(question_ids: Sequence[UUID], rows: Rows) -> Mapping[UUID, int]:
    """Return the number of frames that the answer of each question looked at."""
    used = Cast(KT("usage__frames_used"), BigIntegerField())
    nodes = rows(Node).filter(question_id__in=question_ids).order_by().values_list("question_id")
    return {id: total or 0 for id, total in nodes.annotate(total=Sum(used))}


def outcome_of(question: Question, item: ComparisonItem, feedback: Feedback | None) -> Outcome:
    """Return the outcome of one question. Feedback overrides the grade of an answer; without an answer there is none
    to override."""
    status = QuestionStatus(question.status)
    if item.left_out or status == QuestionStatus.CANCELED:
        return "not_asked"
    if status in OPEN:
        return "open"
    if status == QuestionStatus.FAILED:
        return "failed"
    if not question.has_answer:
        return "refused" if question.finish_reason == "refused" else "abstained"
    grade = feedback.verdict if feedback is not None else question.grade
    return "right" if grade == Grade.RIGHT else "wrong" if grade == Grade.WRONG else "ungraded"


def reply_of(
    question: Question,
    item: ComparisonItem,
    *,
    evidence: Sequence[Evidence],
    feedback: Feedback | None,
    frames: int,
    amount: Decimal,
) -> Reply:
    """Return what the figures count of one question. Engine time is without the time in the queue."""
    outcome = outcome_of(question, item, feedback)
    usage, timings = question.usage, question.timings
    return Reply(
        outcome=outcome,
        confidence=question.confidence,
        head=str(question.signals.get("head", "")),
        amount=amount,
        citations=len(evidence),
        supported=sum(citation.status == "supported" for citation in evidence),
        hit=any(_overlaps(citation, span) for citation in evidence for span in item.evidence)
        if item.evidence
        else None,
        calls=usage.get("calls", 0),
        prompt_tokens=usage.get("prompt_tokens", 0),
        cached_tokens=coarse(usage.get("cached_tokens", 0)),
        completion_tokens=usage.get("completion_tokens", 0),
        frames=frames,
        engine_ms=timings.get("engine_ms"),
        llm_ms=timings.get("llm_ms"),
        degraded=tuple(question.degraded),
        version=question.method_version,
        prompts=question.prompts,
        graded_by=Grader.FEEDBACK if feedback is not None and outcome in {"right", "wrong"} else question.graded_by,
    )


def _overlaps(citation: Evidence, span: Mapping[str, Any]) -> bool:
    """Whether a citation shows some of a labeled span; both are half-open."""
    same_video: bool = str(citation.video_id) == span["video_id"]
    return same_video and bool(citation.start_ms < span["end_ms"] and span["start_ms"] < citation.end_ms)
