"""The routes of questions, and of the searches, sessions, batches and feedback around them."""

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
