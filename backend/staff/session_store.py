"""Where the sessions of the console are stored: Django's store over a table of their own."""

from __future__ import annotations

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore

from backend.staff.models import Session


class SessionStore(DatabaseStore):
    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session
