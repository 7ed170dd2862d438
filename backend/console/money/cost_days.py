"""The page of the days whose costs were reconciled, with all amounts in dollars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from django.contrib import admin
from unfold.contrib.filters.admin import RangeDateFilter

from backend.billing.models import CostDay
from backend.console.access.viewing import MONEY
from backend.console.base import ReadOnlyPage
from backend.console.templatetags.console import seconds, usd


def _shown(column: str, words: str, write: Callable[[Any], str]) -> Callable[[Any, Any], str]:
    """Return a column with its words. Values that are worked out of several columns cannot be sorted."""
    stored = {field.name for field in CostDay._meta.get_fields()}

    @admin.display(description=words, ordering=column if column in stored else None)
    def shown(page: Any, row: CostDay) -> str:
        return write(getattr(row, column))

    return shown


def _percent(share: Any) -> str:
    return "–" if share is None else f"{share * 100:.0f} %"


class CostDayPage(ReadOnlyPage):
    """The reconciled days: paid = attributed + lost + idle, in device time and in dollars."""

    roles = MONEY
    sorts = None
    list_display = (
        "day", "paid", "attributed", "at_most_lost", "at_least_idle", "killed_attempts", "used", "hosted_models",
        "waste", "per_video_hour", "per_question",
    )  # fmt: skip
    list_filter = (("day", RangeDateFilter),)
    ordering = ("-day",)
    id_columns = ()
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "Device time": ("day", "time_paid", "time_attributed", "time_overhead", "time_lost", "time_idle", "used"),
        "Dollars": (
            "paid", "attributed", "overhead", "at_most_lost", "at_least_idle", "hosted_models", "waste",
        ),
        "Per unit": ("video_hours", "questions", "per_video_hour", "per_question"),
        "Details": ("killed_attempts", "reconciled_at"),
    }  # fmt: skip
    labels: ClassVar[Mapping[str, str]] = {"reconciled_at": "reconciled"}
    paid = _shown("paid_usd", "paid", usd)
    attributed = _shown("attributed_usd", "attributed", usd)
    overhead = _shown("overhead_usd", "overhead", usd)
    at_most_lost = _shown("lost_usd", "at most lost by killed attempts", usd)
    at_least_idle = _shown("idle_usd", "at least idle", usd)
    hosted_models = _shown("hosted_usd", "hosted models", usd)
    waste = _shown("waste_usd", "of it waste", usd)
    per_video_hour = _shown("usd_per_video_hour", "an hour of video", usd)
    per_question = _shown("usd_per_question", "a question", usd)
    used = _shown("utilisation", "utilisation", _percent)
    killed_attempts = _shown("lost_attempts", "killed attempts", str)
    time_paid = _shown("paid_seconds", "paid", seconds)
    time_attributed = _shown("attributed_seconds", "attributed", seconds)
    time_overhead = _shown("overhead_seconds", "overhead", seconds)
    time_lost = _shown("lost_seconds", "at most lost by killed attempts", seconds)
    time_idle = _shown("idle_seconds", "at least idle", seconds)
