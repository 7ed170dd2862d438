"""The routes of questions, searches, sessions, batches and feedback."""

from __future__ import annotations

from typing import Any

from backend.questions.api import batches, feedback, questions, searches, sessions

routes: list[Any] = [
    *questions.routes,
    *sessions.routes,
    *searches.routes,
    *batches.routes,
    *feedback.routes,
]
