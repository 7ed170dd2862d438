"""Comparisons: a customer's questions, each asked with several methods over the same index versions."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import models

from backend.library.models import Video
from backend.questions.models.limits import about
from backend.tenancy.models import TenantRow


class ComparisonStatus(models.TextChoices):
    """running: a question is open. grading: a judge reads the answers. completed, canceled: over."""

    RUNNING = "running"
    GRADING = "grading"
    COMPLETED = "completed"
    CANCELED = "canceled"


class Grading(models.TextChoices):
    """How an answer is held against an item's right answer. A labelled choice is always compared by its index."""

    CHOICE = "choice"
    EXACT = "exact"
    JUDGE = "judge"


class Grade(models.TextChoices):
    """Whether an answer is right. An answer that abstained is abstained; a failed question has no grade."""

    RIGHT = "right"
    WRONG = "wrong"
    ABSTAINED = "abstained"


class Grader(models.TextChoices):
    """Who gave a grade. Feedback overrides the others."""

    CHOICE = "choice"
    EXACT = "exact"
    JUDGE = "judge"
    FEEDBACK = "feedback"


class LeftOut(models.TextChoices):
    """Why an item is in no arm's figures."""

    VIDEO_DELETED = "video_deleted"


class Comparison(TenantRow):
    """Questions that are asked with 2 to 8 arms, so that the arms' answers can be compared.

    arms: [{method, effort, check, label}] in the order of the request; an arm's number is its index. budget: of each
    question, as Question.budget. max_total_charge: settled charge above which open questions are canceled. total: items
    times arms times repeats. spent: charge of the questions that have their outcome, in the currency of the prices.
    """

    status = models.CharField(max_length=16, choices=ComparisonStatus.choices, default=ComparisonStatus.RUNNING)
    # "comparison_budget" once the settled charge passed max_total_charge.
    finish_detail = models.CharField(max_length=64, default="", blank=True)
    name = models.CharField(max_length=200, default="", blank=True)
    arms = models.JSONField(default=list)
    seed = models.IntegerField(default=0)
    repeats = models.PositiveSmallIntegerField(default=1)
    budget = models.JSONField(default=dict)
    max_total_charge = models.DecimalField(max_digits=20, decimal_places=10, null=True)
    grading = models.CharField(max_length=16, choices=Grading.choices, default=Grading.CHOICE)
    total = models.PositiveIntegerField()
    spent = models.DecimalField(max_digits=20, decimal_places=10, default=0)
    external_id = models.CharField(max_length=200, default="", blank=True)
    metadata = models.JSONField(default=dict)
    api_key_id = models.UUIDField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    completed_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        indexes = [
            models.Index(fields=["tenant", "-id"], name="comparison_tenant_newest"),
            models.Index(fields=["tenant", "status", "-id"], name="comparison_tenant_status"),
            models.Index(fields=["tenant", "external_id", "-id"], name="comparison_tenant_external"),
        ]

    @classmethod
    def within(cls, collections: Sequence[UUID]) -> models.Q:
        """Return the condition on the rows that a member limited to these collections sees."""
        return about(ComparisonVideo, "comparison_id", collections)


class ComparisonItem(TenantRow):
    """A question of a comparison with its right answer, which no model and no question's row may hold.

    position: from 0, in the order of the request. video_ids: the scope, as strings. correct_choice, correct_answer,
    evidence ([{video_id, start_ms, end_ms}]): the customer's labels, each optional. kind: the customer's word for the
    sort of question. left_out: a value of LeftOut if an arm could not ask the item, "" otherwise.
    """

    comparison = models.ForeignKey(
        Comparison, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    position = models.PositiveIntegerField()
    text = models.TextField(max_length=4_000)
    choices = models.JSONField(default=list)
    video_ids = models.JSONField(default=list)
    start_ms = models.BigIntegerField(null=True)
    end_ms = models.BigIntegerField(null=True)
    correct_choice = models.PositiveSmallIntegerField(null=True)
    correct_answer = models.TextField(max_length=4_000, default="", blank=True)
    evidence = models.JSONField(default=list)
    kind = models.CharField(max_length=64, default="", blank=True)
    external_id = models.CharField(max_length=200, default="", blank=True)
    left_out = models.CharField(max_length=32, choices=LeftOut.choices, default="", blank=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "comparison", "position"], name="comparison_item_position")
        ]


class ComparisonVideo(TenantRow):
    """A video that a comparison reads, with the index version and extent that every arm reads."""

    comparison = models.ForeignKey(
        Comparison, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    video = models.ForeignKey(Video, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    index_version = models.PositiveIntegerField()
    indexed_until_ms = models.BigIntegerField()

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "comparison", "video"], name="comparison_video_once")]
