"""What people decide about jobs, on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils import timezone
from rest_framework import serializers

from backend.jobs.models import JobRank

PRIORITY_HELP = (
    "Order among your own jobs of the same kind: `high` before `normal` before `low`. Jobs of other customers neither "
    "gain nor lose by it."
)
_RANKS = {"low": JobRank.LOW, "normal": JobRank.NORMAL, "high": JobRank.HIGH}
_NAMES = {rank: name for name, rank in _RANKS.items()}


class PriorityField(serializers.ChoiceField):
    """The rank of a job by its name."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(choices=list(_RANKS), **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        return _RANKS[super().to_internal_value(data)]

    def to_representation(self, value: Any) -> str:
        return _NAMES[JobRank(value)]


class DeadlineField(serializers.DateTimeField):
    """A time in the future."""

    default_error_messages = {"in_the_past": "The time must be in the future."}

    def to_internal_value(self, value: Any) -> datetime:
        at: datetime = super().to_internal_value(value)
        if at <= timezone.now():
            self.fail("in_the_past")
        return at
