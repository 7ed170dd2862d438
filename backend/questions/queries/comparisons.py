"""Reads of comparisons of the entered tenant, of their items, and of the outcomes of their questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID

from django.db.models import Count, Max, QuerySet, Sum

from backend.billing.charges import NOTHING, Charge
from backend.library.models import VideoStatus
from backend.questions.figures.report import Report
from backend.questions.models import (
    OPEN,
    Comparison,
    ComparisonItem,
    ComparisonVideo,
    Question,
    QuestionStatus,
    QuestionVideo,
)


@dataclass(frozen=True, slots=True)
class ComparisonCounts:
    """Questions of a comparison by status. left_out: items that are in no arm's figures. charge: of the questions."""

    statuses: dict[str, int] = field(default_factory=dict)
    left_out: int = 0
    charge: Charge = NOTHING


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """A comparison with the rows that are shown with it. report, grading_charge: None if they were not read."""

    comparison: Comparison
    counts: ComparisonCounts
    videos: tuple[ComparisonVideo, ...]
    report: Report | None = None
    grading_charge: Decimal | None = None

    @property
    def finish_detail(self) -> str | None:
        """Return why the comparison ended before its last answer; None if it did not."""
        return self.comparison.finish_detail or None


def comparisons(*, status: str = "", external_id: str = "") -> QuerySet[Comparison]:
    """Return the comparisons of the entered tenant. An empty status or external_id restricts nothing."""
    rows: QuerySet[Comparison] = Comparison.objects.all()
    if status:
        rows = rows.filter(status=status)
    return rows.filter(external_id=external_id) if external_id else rows


def counts_of(comparison_ids: Sequence[UUID]) -> dict[UUID, ComparisonCounts]:
    """Return the counts of each comparison, read in two statements."""
    statuses = {id: dict.fromkeys(QuestionStatus.values, 0) for id in comparison_ids}
    rows = Question.objects.filter(comparison_id__in=comparison_ids).order_by().values_list("comparison_id", "status")
    charges: dict[UUID, Charge] = {}
    sums = {
        "n": Count("id"),
        "charge": Sum("charge_amount"),
        "currency": Max("charge_currency"),
        "version": Max("price_version"),
    }
    for comparison_id, status, n, amount, currency, version in rows.annotate(**sums):
        statuses[comparison_id][status] = n
        before = charges.get(comparison_id, Charge(currency=currency))
        newest = max((v for v in (before.price_version, version) if v is not None), default=None)
        charges[comparison_id] = Charge(before.amount + amount, before.currency, newest)
    items = ComparisonItem.objects.filter(comparison_id__in=comparison_ids).exclude(left_out="").order_by()
    left_out = dict(items.values_list("comparison_id").annotate(n=Count("id")))
    return {id: ComparisonCounts(statuses[id], left_out.get(id, 0), charges.get(id, NOTHING)) for id in comparison_ids}


def views_of(rows: Sequence[Comparison]) -> list[ComparisonView]:
    """Return the comparisons with the rows that are shown with them, in a fixed number of statements."""
    ids = [row.id for row in rows]
    counts = counts_of(ids)
    videos: dict[UUID, list[ComparisonVideo]] = defaultdict(list)
    for video in ComparisonVideo.objects.filter(comparison_id__in=ids).order_by("video_id"):
        videos[video.comparison_id].append(video)
    return [ComparisonView(row, counts[row.id], tuple(videos[row.id])) for row in rows]


def view_of(comparison: Comparison) -> ComparisonView:
    """Return one comparison with the rows that are shown with it."""
    return views_of([comparison])[0]


def spent_on(comparison_id: UUID) -> Decimal:
    """Return the charge of the comparison's questions that have their outcome, without any grading."""
    over = Question.objects.filter(comparison_id=comparison_id).exclude(status__in=OPEN)
    total: Decimal = over.aggregate(total=Sum("charge_amount", default=Decimal(0)))["total"]
    return total


def lost_videos(question: Question) -> bool:
    """Whether a video of a comparison's question was deleted, or is being deleted, since the comparison was made."""
    item = ComparisonItem.objects.filter(id=question.comparison_item_id).first()
    if item is None:
        return False
    scope = QuestionVideo.objects.filter(question_id=question.id).exclude(video__status=VideoStatus.DELETING)
    return bool({str(id) for id in scope.values_list("video_id", flat=True)} != set(item.video_ids))


def page_of_items(comparison_id: UUID, *, after: int = -1, size: int) -> list[ComparisonItem]:
    """Return up to size items behind a position, in their order."""
    rows = ComparisonItem.objects.filter(comparison_id=comparison_id, position__gt=after).order_by("position")
    return list(rows[:size])
