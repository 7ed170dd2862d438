"""The console's pages of searches: what was looked for, what was found, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.safestring import SafeString

from backend.console.access.viewing import WORK
from backend.console.base import ReadOnlyPage
from backend.console.details import bars
from backend.console.filters import TenantFilter
from backend.console.queries import searches
from backend.console.words import badge
from backend.library.storage import ObjectStorage
from backend.questions.models import Search
from backend.questions.queries.searches import (
    FoundEvent,
    FoundObject,
    Match,
    empty_reason_of,
    for_objects,
    scores_of,
)
from backend.questions.services.searches import ALL_MODES
from gpu_workers.engine.retrieval.highlights import marked_parts


@dataclass(frozen=True, slots=True)
class FoundRow:
    """One result as the page shows it. texts: the highlights, each with its parts and whether they match."""

    rank: int
    event: FoundEvent
    video_title: str
    url: str | None
    texts: list[tuple[Match, list[tuple[str, bool]]]]


@dataclass(frozen=True, slots=True)
class ObjectRow:
    """One object of a search for objects as the page shows it."""

    rank: int
    thing: FoundObject
    video_title: str
    url: str | None


class ModeFilter(admin.SimpleListFilter):
    title = "mode"
    parameter_name = "mode"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(mode, mode) for mode in ALL_MODES]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        return queryset.filter(settings__mode=self.value()) if self.value() else queryset


class SearchPage(ReadOnlyPage):
    roles, content = WORK, True
    content_columns = frozenset({"words"})
    content_searches = frozenset({"text"})
    list_display = ("words", "shown_status", "tenant", "mode", "found", "total", "created_at")
    list_filter = (TenantFilter, "status", ModeFilter)
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "text", "error_code")

    @admin.display(description="query")
    def words(self, search: Search) -> str:
        return search.text if len(search.text) <= 80 else f"{search.text[:79]}…"

    @admin.display(description="status", ordering="status")
    def shown_status(self, search: Search) -> SafeString:
        return badge(search.status)

    @admin.display(description="mode")
    def mode(self, search: Search) -> str:
        return str(search.settings.get("mode", "semantic"))

    @admin.display(description="found")
    def found(self, search: Search) -> int:
        return len(search.results)

    @admin.display(description="total")
    def total(self, search: Search) -> str:
        ms = search.timings.get("total_ms")
        return "–" if ms is None else f"{ms / 1_000:.2f} s"

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        search: Search = self.opened(request, object_id)
        videos = list(searches.videos(search))
        titles = {row.video_id: row.video.title for row in videos}
        views = search.settings.get("views", {})
        context = {
            **self.page_context(request, "Search"),
            "search": search,
            "videos": videos,
            "mode": self.mode(search),
            "views": sorted(((view, weight) for view, weight in views.items() if weight), key=lambda pair: -pair[1]),
            "rows": [] if for_objects(search) else _rows(search, titles),
            "objects": _objects(search, titles) if for_objects(search) else [],
            "scores": scores_of(search),
            "empty": empty_reason_of(search),
            "stages": bars(search.timings),
            "job": searches.latest_job(search),
        }
        return TemplateResponse(request, "console/search.html", context)


def _rows(search: Search, titles: dict[Any, str]) -> list[FoundRow]:
    return [
        FoundRow(
            rank=rank,
            event=event,
            video_title=titles.get(event.video_id) or str(event.video_id),
            url=_picture(event.frame_key),
            texts=[(match, marked_parts(match.text, match.ranges)) for match in event.highlights],
        )
        for rank, event in enumerate(map(FoundEvent.stored, search.results), start=1)
    ]


def _objects(search: Search, titles: dict[Any, str]) -> list[ObjectRow]:
    return [
        ObjectRow(rank, thing, titles.get(thing.video_id) or str(thing.video_id), _picture(thing.frame_key))
        for rank, thing in enumerate(map(FoundObject.stored, search.results), start=1)
    ]


def _picture(key: str) -> str | None:
    return ObjectStorage().presign_get(key) if key else None
