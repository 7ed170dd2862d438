"""The routes of questions, their estimates, searches, sessions, batches, comparisons, feedback and methods."""

from __future__ import annotations

from typing import Any

from backend.questions.api import (
    batches,
    comparisons,
    control,
    estimates,
    feedback,
    methods,
    questions,
    reports,
    searches,
    sessions,
    traces,
)

routes: list[Any] = [
    *questions.routes,
    *reports.routes,
    *estimates.routes,
    *sessions.routes,
    *searches.routes,
    *batches.routes,
    *control.routes,
    *comparisons.routes,
    *methods.routes,
    *feedback.routes,
    *traces.routes,
]
