"""How long answers and indexes took, added up by hour and by day over all tenants."""

from __future__ import annotations

from django.db import models
from uuid6 import uuid7


class TimesKind(models.TextChoices):
    QUESTION = "question"
    VIDEO = "video"


class TimesStep(models.TextChoices):
    HOUR = "hour"
    DAY = "day"


class StageTimes(models.Model):
    """The times of one stage, in milliseconds, of what ended in one hour or day (UTC) that is over.

    Of videos, the times of a minute of media. stage: "" for all that ended, well or badly; n and failed count it, and
    p95 is that of the whole. buckets: how many times lie in each bucket of backend.questions.queries.stage_times, by
    the bucket's number, so that times of several days can be taken together.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    kind = models.CharField(max_length=16, choices=TimesKind.choices)
    step = models.CharField(max_length=8, choices=TimesStep.choices)
    at = models.DateTimeField()
    stage = models.CharField(max_length=64, default="", blank=True)
    n = models.PositiveIntegerField()
    failed = models.PositiveIntegerField(default=0)
    p50 = models.FloatField(null=True)
    p95 = models.FloatField(null=True)
    p99 = models.FloatField(null=True)
    buckets = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "step", "at", "stage"], name="stage_times_once")]
