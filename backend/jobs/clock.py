"""Times of PostgreSQL's clock, for use in a statement."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import models
from django.db.models import ExpressionWrapper
from django.db.models.functions import Now


def after(wait: timedelta) -> ExpressionWrapper[Any]:
    """Return the time of PostgreSQL's clock that is wait from now."""
    return ExpressionWrapper(Now() + wait, output_field=models.DateTimeField())
