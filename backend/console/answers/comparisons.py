"""The console's pages of comparisons: the figures, the matrix of questions and arms, and traces side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.safestring import SafeString

from backend.billing.rates import plain
from backend.console.access.viewing import WORK, public_id_of
from backend.console.answers.figure_rows import figure_rows, kind_rows, rule_rows
from backend.console.answers.frontier import picture_of
from backend.console.answers.search_tree import tree_of
from backend.console.base import ReadOnlyPage
from backend.console.filters import TenantFilter
from backend.console.queries import comparisons, questions
from backend.console.templatetags.console import usd
from backend.console.words import badge
from backend.questions.figures.replies import ANSWERED
from backend.questions.models import Comparison
from backend.questions.queries.comparison_results import Asked, ItemResults, compare_results

ROWS = 100
"""Items of the matrix on one page."""

MARKS = {
    "right": "✓", "wrong": "✗", "abstained": "–", "refused": "⊘", "failed": "!", "ungraded": "?", "open": "…",
    "not_asked": "·",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cell:
    """One answer in the matrix: a sign, the outcome in words, and a link to its trace."""

    asked: Asked
    mark: str
    outcome: str


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """An item of the matrix. truth: the right answer in words, "" without a label. cells: by arm and repeat."""

    results: ItemResults
    truth: str
    cells: tuple[tuple[Cell, ...], ...]


def cell_of(asked: Asked) -> Cell:
    outcome = asked.reply.outcome
    return Cell(asked, MARKS[outcome], outcome.replace("_", " "))


def row_of(results: ItemResults) -> MatrixRow:
    return MatrixRow(results, truth_of(results), tuple(tuple(map(cell_of, repeats)) for repeats in results.arms))


def truth_of(results: ItemResults) -> str:
    """Return the right answer of an item in words, "" without a label."""
    item = results.item
    if item.correct_choice is None:
        return str(item.correct_answer)
    return f"{chr(65 + item.correct_choice)}. {item.choices[item.correct_choice]}"


def disagree(results: ItemResults) -> bool:
    """Whether the arms differ in their outcomes, or in the choices that they chose."""
    chosen = {
        asked.question.choice
        for asked in results.answers
        if asked.reply.outcome in ANSWERED and asked.question.choice is not None
    }
    return len(set(results.outcomes)) > 1 or len(chosen) > 1


class ComparisonPage(ReadOnlyPage):
    roles, content = WORK, True
    content_columns = frozenset({"name_or_id"})
    content_searches = frozenset({"name", "external_id"})
    list_display = ("name_or_id", "shown_status", "tenant", "shown_arms", "total", "grading", "charge", "created_at")
    list_filter = (TenantFilter, "status", "grading")
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "name", "external_id")

    @admin.display(description="comparison")
    def name_or_id(self, comparison: Comparison) -> str:
        return comparison.name or comparison.external_id or public_id_of(comparison)

    @admin.display(description="status", ordering="status")
    def shown_status(self, comparison: Comparison) -> SafeString:
        return badge(comparison.status)

    @admin.display(description="arms")
    def shown_arms(self, comparison: Comparison) -> str:
        return " · ".join(arm["label"] for arm in comparison.arms)

    @admin.display(description="charge", ordering="spent")
    def charge(self, comparison: Comparison) -> str:
        return usd(comparison.spent)

    def get_urls(self) -> list[URLPattern]:
        traces = path(
            "<path:object_id>/traces/",
            self.admin_site.admin_view(self.traces_view),
            name="questions_comparison_traces",
        )
        return [traces, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        comparison: Comparison = self.opened(request, object_id)
        results = comparisons.results(comparison)
        report = compare_results(comparison, results)
        only = "disagree" if request.GET.get("only") == "disagree" else ""
        shown = [result for result in results if disagree(result)] if only else results
        page = Paginator(shown, ROWS).get_page(request.GET.get("page"))
        labels = [arm["label"] for arm in comparison.arms]
        context = {
            **self.page_context(request, self.name_or_id(comparison)),
            "comparison": comparison,
            "report": report,
            "cost": sum((asked.reply.amount for result in results for asked in result.answers), Decimal(0)),
            "labels": labels,
            "rows": figure_rows(report),
            "kinds": kind_rows(report),
            "rule": rule_rows(report),
            "pairs": [(pair, labels[pair.arm], labels[pair.against]) for pair in report.pairs],
            "picture": picture_of(report),
            "charge": plain(comparison.spent),
            "most": "" if comparison.max_total_charge is None else plain(comparison.max_total_charge),
            "currency": next((asked.question.charge_currency for result in results for asked in result.answers), ""),
            "matrix": [row_of(result) for result in page.object_list],
            "page": page,
            "only": only,
            "disagreeing": sum(map(disagree, results)),
            "marks": [(mark, outcome.replace("_", " ")) for outcome, mark in MARKS.items()],
            "videos": comparisons.videos(comparison),
            "grading_cost": comparisons.grading_cost(comparison),
        }
        return TemplateResponse(request, "console/comparison.html", context)

    def traces_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the traces of two arms for one item. Query: item (position), left and right (arms), repeat."""
        comparison: Comparison = self.opened(request, object_id)
        arms = range(len(comparison.arms))
        position = _whole(request, "item", 0)
        left, right = _whole(request, "left", 0), _whole(request, "right", 1)
        repeat = _whole(request, "repeat", 0)
        results = comparisons.results_at(comparison, position)
        if results is None or left not in arms or right not in arms or repeat not in range(comparison.repeats):
            raise Http404
        context = {
            **self.page_context(request, "Traces side by side"),
            "comparison": comparison,
            "item": results.item,
            "truth": truth_of(results),
            "sides": [
                _side(comparison, results.arms, name, arm, repeat) for name, arm in (("left", left), ("right", right))
            ],
            "position": position,
            "left": left,
            "right": right,
            "repeat": repeat,
            "repeats": range(comparison.repeats),
            "labels": list(enumerate(arm["label"] for arm in comparison.arms)),
        }
        return TemplateResponse(request, "console/traces.html", context)


def _side(comparison: Comparison, arms: Sequence[Sequence[Asked]], name: str, arm: int, repeat: int) -> dict[str, Any]:
    """Return one of the two traces; without a question the arm was not asked."""
    asked = next((one for one in arms[arm] if one.question.repeat == repeat), None)
    nodes = [] if asked is None else questions.nodes_with_candidates(asked.question)
    return {
        "name": name,
        "arm": arm,
        "label": comparison.arms[arm]["label"],
        "cell": None if asked is None else cell_of(asked),
        "tree": tree_of(nodes),
        "nodes": len(nodes),
    }


def _whole(request: HttpRequest, name: str, default: int) -> int:
    """Return a whole number of the query. Raises Http404 for other text."""
    text = request.GET.get(name, str(default))
    if not text.isdecimal() or len(text) > 6:
        raise Http404
    return int(text)
