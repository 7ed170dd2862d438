"""The detail pages of the console: one video's index and one question's search."""

from __future__ import annotations

import re
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import RangeDateTimeFilter

from backend.api.public_ids import encode_creator
from backend.console.access.viewing import WORK, public_id_of
from backend.console.acting.actions import QUESTION_ACTS, VIDEO_ACTS, Operable
from backend.console.answers.calls import waterfall
from backend.console.answers.search_tree import tree_of
from backend.console.base import ReadOnlyPage, paged
from backend.console.filters import TenantFilter, failed_part, fixed, typed
from backend.console.queries import questions, timelines, videos
from backend.console.queries.deliveries import latest_deliveries
from backend.console.queries.usage import prices_of, usage_by_stage
from backend.console.templatetags.console import usd
from backend.console.video import media
from backend.console.video.playing import played
from backend.console.video.timeline import AT, graph_of, lanes
from backend.console.words import badge
from backend.library.models import Segment, Video
from backend.library.storage import ObjectStorage
from backend.playback.player import played_recordings
from backend.questions.bodies.questions import FINISH_REASONS, METHODS
from backend.questions.models import Question
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.answering.contract import EFFORTS

ROWS = 20
"""Segments, pieces and marks that a page shows at once."""
CALLS = 50
"""Model calls that a page shows at once."""


def bars(stage_ms: dict[str, Any]) -> list[dict[str, Any]]:
    """Return stages with their milliseconds and share of the longest, the longest first."""
    measured = {name: float(ms) for name, ms in stage_ms.items() if isinstance(ms, int | float)}
    longest = max([*measured.values(), 1.0])
    ordered = sorted(measured.items(), key=lambda item: -item[1])
    return [{"name": name.removesuffix("_ms"), "ms": ms, "percent": 100 * ms / longest} for name, ms in ordered]


def total(lines: list[dict[str, Any]], column: str) -> Decimal:
    return sum((line[column] for line in lines), Decimal(0))


class VideoPage(Operable, ReadOnlyPage):
    roles, content = WORK, True
    content_columns = frozenset({"title_or_id"})
    content_searches = frozenset({"title", "external_id"})
    acts = VIDEO_ACTS
    sorts = ("created_at",)
    list_display = (
        "title_or_id",
        "shown_status",
        "tenant",
        "minutes",
        "indexed",
        "profile",
        "error_code",
        "created_at",
    )
    list_filter = (
        TenantFilter, "status", "profile", typed("error_code"),
        failed_part(Segment, reference="video_id", failed_at="observed_at", parameter="segment_error"),
        ("created_at", RangeDateTimeFilter), ("ready_at", RangeDateTimeFilter), ("failed_at", RangeDateTimeFilter),
    )  # fmt: skip
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "title", "external_id", "error_code")

    @admin.display(description="video")
    def title_or_id(self, video: Video) -> str:
        return video.title or public_id_of(video)

    @admin.display(description="status", ordering="status")
    def shown_status(self, video: Video) -> SafeString:
        return badge(video.status)

    @admin.display(description="minutes", ordering="duration_ms")
    def minutes(self, video: Video) -> str:
        return "–" if video.duration_ms is None else f"{video.duration_ms / 60_000:.1f}"

    @admin.display(description="indexed", ordering="indexed_until_ms")
    def indexed(self, video: Video) -> SafeString:
        percent = 100 * video.indexed_until_ms / video.duration_ms if video.duration_ms else 0
        return format_html('<span class="c-meter"><i style="width:{}%"></i></span> {}%', round(percent), round(percent))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        video: Video = self.opened(request, object_id)
        lines = usage_by_stage(video)
        cost = total(lines, "cost")
        minutes = (video.duration_ms or 0) / 60_000
        wall_ms = (
            (video.ready_at - video.index_started_at).total_seconds() * 1000
            if video.ready_at and video.index_started_at
            else None
        )
        segments = paged(request, videos.segments(video), "segments", ROWS)
        work = timelines.segment_work(video, list(segments))
        counts = videos.index_counts(video)
        acts = self.acts_context(request, video)
        context = {
            **self.page_context(request, video.title or public_id_of(video)),
            **acts,
            "retries_segments": any(name == "retry_segment" for name, _, _ in acts["asking_acts"]),
            "video": video,
            "versions": videos.latest_versions(video),
            "pieces": paged(request, videos.input_segments(video), "input", ROWS),
            "overview": videos.overview(video),
            "counts": counts,
            "stages": bars(video.stage_ms),
            "page": segments,
            "segments": [(row, bars(row.stage_ms), work.get(row.id, {})) for row in segments.object_list],
            **_timeline(request, video, counts),
            "graph": graph_of(*timelines.entities(video)),
            "played": played(video),
            "recordings": _recordings(video),
            "lines": lines,
            "cost": cost,
            "prices": prices_of(lines),
            "cost_per_minute": cost / Decimal(minutes) if minutes else None,
            "wall_ms": wall_ms,
            "wall_ms_per_minute": wall_ms / minutes if wall_ms is not None and minutes else None,
            "jobs": videos.latest_jobs(video),
            "deliveries": latest_deliveries(video),
            "questions": videos.question_count(video),
        }
        return TemplateResponse(request, "console/video.html", context)


def _recordings(video: Video) -> list[dict[str, Any]]:
    """Return what the page's player plays; nothing before the recording is probed, or after it is deleted."""
    if video.duration_ms is None or video.source_deleted_at is not None:
        return []
    with tenant_scope(video.tenant_id):
        return [asdict(each) for each in played_recordings([video], base=media.BASE)]


def _timeline(request: HttpRequest, video: Video, counts: dict[str, Any]) -> dict[str, Any]:
    """Return the drawn timeline of a video by kind with the number of marks, and the lists of marks that are open."""
    numbers = {kind: counts[of.counted] for kind, of in timelines.KINDS.items()}
    drawn = {kind: timelines.drawn(video, kind, number) for kind, number in numbers.items()}
    at = moment_of(request)
    placed = lanes(drawn, video.duration_ms or video.indexed_until_ms)
    return {
        "lanes": [(kind, numbers[kind], found) for kind, found in placed],
        "marks": [
            (kind, number, _listed(request, timelines.marks(video, kind), kind, at) if kind in request.GET else None)
            for kind, number in numbers.items()
        ],
        "at": at,
    }


def moment_of(request: HttpRequest) -> int | None:
    """Return the moment in ms at which an address opens a video; None for none."""
    text = request.GET.get(AT, "")
    return int(text) if re.fullmatch(r"[0-9]{1,12}", text) else None


def _listed(request: HttpRequest, marks: QuerySet[Any], kind: str, at: int | None) -> Page[Any]:
    """Return the part of a list of marks that an address asks for: by its number, or with the last mark before at."""
    if at is None or request.GET[kind] != AT:
        return paged(request, marks, kind, ROWS)
    before = marks.filter(start_ms__lte=at).count()
    return Paginator(marks, ROWS).get_page((max(before, 1) - 1) // ROWS + 1)


class FeedbackFilter(admin.SimpleListFilter):
    title = "feedback"
    parameter_name = "feedback"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("right", "right"), ("wrong", "wrong")]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        verdict = self.value()
        return queryset.filter(id__in=questions.questions_judged(verdict)) if verdict else queryset


class QuestionPage(Operable, ReadOnlyPage):
    roles, content = WORK, True
    content_columns = frozenset({"words", "shown_answer"})
    content_searches = frozenset({"text", "external_id"})
    acts = QUESTION_ACTS
    sorts = ("created_at",)
    list_display = (
        "words", "shown_status", "tenant", "shown_answer", "sure", "method", "effort", "cost", "total", "created_at",
    )  # fmt: skip
    list_filter = (
        TenantFilter, "status", fixed("method", METHODS), fixed("effort", EFFORTS),
        fixed("finish_reason", FINISH_REASONS), typed("error_code"), FeedbackFilter,
        ("created_at", RangeDateTimeFilter), ("completed_at", RangeDateTimeFilter),
    )  # fmt: skip
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "text", "external_id", "error_code")

    @admin.display(description="question")
    def words(self, question: Question) -> str:
        return question.text if len(question.text) <= 80 else f"{question.text[:79]}…"

    @admin.display(description="status", ordering="status")
    def shown_status(self, question: Question) -> SafeString:
        return badge(question.status)

    @admin.display(description="answer")
    def shown_answer(self, question: Question) -> str:
        text = question.answer or question.error_code or question.finish_reason or "–"
        return text if len(text) <= 60 else f"{text[:59]}…"

    @admin.display(description="confidence", ordering="confidence")
    def sure(self, question: Question) -> str:
        return "–" if question.confidence is None else f"{question.confidence:.2f}"

    @admin.display(description="cost", ordering="cost_amount")
    def cost(self, question: Question) -> str:
        return usd(question.cost_amount)

    @admin.display(description="took")
    def total(self, question: Question) -> str:
        ms = question.timings.get("total_ms")
        return "–" if ms is None else f"{ms / 1000:.1f} s"

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        question: Question = self.opened(request, object_id)
        nodes = questions.nodes_with_candidates(question)
        feedback = questions.feedback(question)
        storage = ObjectStorage()
        lines = usage_by_stage(question)
        context = {
            **self.page_context(request, "Question"),
            **self.acts_context(request, question),
            "question": question,
            "feedback": feedback,
            "feedback_by": feedback and encode_creator(person_id=feedback.person_id, api_key_id=feedback.api_key_id),
            "batch": questions.batch(question) if question.batch_id else None,
            "batch_counts": questions.batch_counts(question) if question.batch_id else [],
            "choices": [(chr(65 + n), choice, n == question.choice) for n, choice in enumerate(question.choices)],
            "videos": questions.videos(question),
            "tree": tree_of(nodes),
            "nodes": len(nodes),
            "samples": sum(len(candidates) for _, candidates in nodes),
            "evidence": [
                (row, storage.presign_get(row.frame_key) if row.frame_key else None)
                for row in questions.evidence(question)
            ],
            "calls": paged(request, waterfall(list(questions.model_calls(question))), "calls", CALLS),
            "again": questions.asked_again(question),
            "stages": bars(question.timings),
            "lines": lines,
            "cost": total(lines, "cost"),
            "prices": prices_of(lines),
            "job": questions.latest_job(question),
            "deliveries": latest_deliveries(question),
        }
        return TemplateResponse(request, "console/question.html", context)
