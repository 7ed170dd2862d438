"""Questions, and what customers group them by and say about their answers."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import models

from backend.billing.charges import Charge
from backend.library.models import Video
from backend.questions.models.comparisons import Comparison, ComparisonItem
from backend.questions.models.limits import about, about_scope, with_some, without_others
from backend.questions.models.outcomes import QuestionStatus
from backend.tenancy.models import TenantRow


class Verdict(models.TextChoices):
    RIGHT = "right"
    WRONG = "wrong"


class BatchStatus(models.TextChoices):
    RUNNING = "running"
    COMPLETED = "completed"
    CANCELED = "canceled"


class QuestionBatch(TenantRow):
    """Questions asked together. status: running until no question is open; each question holds its own outcome."""

    status = models.CharField(max_length=16, default="running")
    total = models.PositiveIntegerField()
    external_id = models.CharField(max_length=200, default="", blank=True)
    metadata = models.JSONField(default=dict)
    # How often it was opened again after its completion, by a retry of its questions.
    retries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    completed_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        indexes = [
            models.Index(fields=["tenant", "status", "-id"], name="batch_tenant_status"),
            models.Index(fields=["tenant", "external_id", "-id"], name="batch_tenant_external"),
        ]

    @classmethod
    def within(cls, collections: Sequence[UUID]) -> models.Q:
        """Return the condition on the rows that a member limited to these collections sees."""
        return with_some(Question, "batch_id") & without_others(Question, "batch_id", collections)


class Session(TenantRow):
    """A conversation: its questions are asked one after another and may refer to earlier answers.

    scope: {video_ids | collection_id, start_ms, end_ms} as requested; each question resolves it again.
    """

    scope = models.JSONField(default=dict)
    external_id = models.CharField(max_length=200, default="", blank=True)
    metadata = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(TenantRow.Meta):
        indexes = [
            models.Index(fields=["tenant", "external_id", "-id"], name="session_tenant_external"),
        ]

    @classmethod
    def within(cls, collections: Sequence[UUID]) -> models.Q:
        """Return the condition on the rows that a member limited to these collections sees."""
        return about_scope(collections) & without_others(Question, "session_id", collections)


class Question(TenantRow):
    status = models.CharField(max_length=16, choices=QuestionStatus.choices, default=QuestionStatus.QUEUED)
    stage = models.CharField(max_length=64, default="", blank=True)
    # What the stage works on, in words that may change.
    stage_detail = models.CharField(max_length=200, default="", db_default="", blank=True)
    # When the stage, or work before the first stage, began.
    stage_at = models.DateTimeField(null=True)
    text = models.TextField(max_length=4_000)
    choices = models.JSONField(default=list)
    method = models.CharField(max_length=32, default="ava")
    effort = models.CharField(max_length=16, default="medium")
    # How a doubtful answer is checked: off, frames, inspect, or auto: the effort decides.
    check_mode = models.CharField(max_length=8, default="auto")
    # How method ava answers: search, time, whole, scan, objects, or auto: the question's words decide.
    route = models.CharField(max_length=16, default="auto")
    # The language of the answer: given by the caller, else found when it is answered.
    language = models.CharField(max_length=8, default="", blank=True)
    # Scope: a hard filter. start_ms and end_ms narrow every video.
    start_ms = models.BigIntegerField(null=True)
    end_ms = models.BigIntegerField(null=True)
    # {max_calls, max_tokens, max_seconds, max_cost}
    budget = models.JSONField(default=dict)
    seed = models.IntegerField(default=0)
    external_id = models.CharField(max_length=200, default="", blank=True)
    metadata = models.JSONField(default=dict)
    batch = models.ForeignKey(
        QuestionBatch, null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    batch_position = models.PositiveIntegerField(null=True)
    session = models.ForeignKey(
        Session, null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    # Position in the session, from 1.
    turn = models.PositiveIntegerField(null=True)
    # The wording of a follow-up that the search used, with its references written out.
    standalone = models.TextField(default="", blank=True)
    # A question of a comparison asks one item with one arm (index into the comparison's arms), once per repeat from 0.
    # The right answer is the item's: no column here, or of the job, holds it.
    comparison = models.ForeignKey(
        Comparison, null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    comparison_item = models.ForeignKey(
        ComparisonItem, null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    comparison_arm = models.PositiveSmallIntegerField(null=True)
    repeat = models.PositiveSmallIntegerField(default=0)
    # A value of Grade, "" without one, and of Grader: who gave it.
    grade = models.CharField(max_length=16, default="", blank=True)
    graded_by = models.CharField(max_length=16, default="", blank=True)
    # Staff asked it, to look into an answer: it is not charged, and no limit of the tenant holds it.
    asked_by_operator = models.BooleanField(default=False)
    # How often it was asked again after it had failed or was canceled.
    retries = models.PositiveSmallIntegerField(default=0)
    # Whether the customer was shown a partial answer; such a question is charged.
    shown = models.BooleanField(default=False)
    # Whether the customer set its deadline.
    own_deadline = models.BooleanField(default=False)

    answer = models.TextField(default="", blank=True)
    choice = models.PositiveSmallIntegerField(null=True)
    confidence = models.FloatField(null=True)
    finish_reason = models.CharField(max_length=32, default="", blank=True)
    # A stable code behind a reason that is not "answered", such as the limit that ended the search.
    finish_detail = models.CharField(max_length=64, default="", blank=True)
    # The best answer so far while the search still runs: {text, choice, score, path, level}.
    partial = models.JSONField(default=dict)
    # What the question's words were taken to ask for: {route, chosen_by, shape, time, statement, counted, ...}.
    understood = models.JSONField(default=dict)
    # [{text, status, evidence: [ordinals]}]
    claims = models.JSONField(default=list)
    # {shape, columns, parts: [{text, cells, claim}]} of an answer that is more than a sentence, else {}.
    composition = models.JSONField(default=dict)
    # What the answer had to do without and why its search ended, in words.
    notes = models.JSONField(default=list)
    # {calls, prompt_tokens, cached_tokens, completion_tokens}
    usage = models.JSONField(default=dict)
    # What the answer cost us: for the console alone. Customers see the charge.
    cost_amount = models.DecimalField(max_digits=20, decimal_places=10, default=0)
    cost_currency = models.CharField(max_length=3, default="USD")
    charge_amount = models.DecimalField(max_digits=20, decimal_places=10, default=0)
    charge_currency = models.CharField(max_length=3, default="USD")
    price_version = models.PositiveIntegerField(null=True)
    # {queue_ms, engine_ms, llm_ms, total_ms, <stage>_ms}
    timings = models.JSONField(default=dict)
    model_names = models.JSONField(default=dict)
    # What the answer was made with: the method's version, the first 16 hex digits of its prompts' SHA-256, its
    # settings. Two answers with the same three differ by their models and their index alone.
    method_version = models.CharField(max_length=32, default="", blank=True)
    prompts = models.CharField(max_length=16, default="", blank=True)
    settings = models.JSONField(default=dict)
    # What the confidence was computed from, and under "head" how the answer was drawn; confidences of one head compare.
    signals = models.JSONField(default=dict)
    # Codes of what the method had to do without, such as no_speech.
    degraded = models.JSONField(default=list)
    error_code = models.CharField(max_length=64, default="", blank=True)
    error_message = models.TextField(default="", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)

    @property
    def has_answer(self) -> bool:
        """Whether the outcome is an answer, which is charged: a search that ended with an answer, or that its budget
        ended after it had found one."""
        if self.status != QuestionStatus.SUCCEEDED:
            return False
        if self.finish_reason == "budget":
            return bool(self.answer) or self.choice is not None
        return self.finish_reason == "answered"

    @property
    def taken_back(self) -> bool:
        """Whether the service itself found that it has no answer to give, whatever it showed on the way (ADR 53)."""
        return self.status == QuestionStatus.SUCCEEDED and self.finish_reason not in ("answered", "budget")

    @property
    def charge(self) -> Charge:
        """Return what the question is charged."""
        return Charge(self.charge_amount, self.charge_currency, self.price_version)

    class Meta(TenantRow.Meta):
        indexes = [
            models.Index(fields=["tenant", "-id"], name="question_tenant_newest"),
            models.Index(fields=["tenant", "status", "-id"], name="question_tenant_status"),
            models.Index(fields=["tenant", "external_id", "-id"], name="question_tenant_external"),
            models.Index(fields=["tenant", "batch", "batch_position"], name="question_tenant_batch"),
            models.Index(fields=["tenant", "comparison", "comparison_item"], name="question_tenant_comparison"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "session", "turn"], name="question_session_turn"),
            models.UniqueConstraint(
                fields=["tenant", "comparison_item", "comparison_arm", "repeat"], name="question_comparison_pair_once"
            ),
        ]

    @classmethod
    def within(cls, collections: Sequence[UUID]) -> models.Q:
        """Return the condition on the rows that a member limited to these collections sees."""
        return about(QuestionVideo, "question_id", collections)


class QuestionPace(TenantRow):
    """How long the tenant's answers take from the beginning of a stage: a roll-up, written with each answer.

    model: the reasoner. stage: "" from the beginning of work. left_ms: mean time until the answer, in which the latest
    answers count most. samples: times that were measured.
    """

    method = models.CharField(max_length=32)
    effort = models.CharField(max_length=16)
    model = models.CharField(max_length=200)
    stage = models.CharField(max_length=64, default="", blank=True)
    left_ms = models.FloatField()
    samples = models.PositiveIntegerField(default=1)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "method", "effort", "model", "stage"], name="question_pace_once")
        ]


class Feedback(TenantRow):
    """A customer's verdict on an answer, with the right answer if the customer gives it."""

    question = models.ForeignKey(
        Question, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    verdict = models.CharField(max_length=8, choices=Verdict.choices)
    note = models.TextField(max_length=4_000, default="", blank=True)
    correct_answer = models.TextField(max_length=4_000, default="", blank=True)
    correct_choice = models.PositiveSmallIntegerField(null=True)
    # Who gave this verdict: an API key or a member, who is named by id alone.
    api_key_id = models.UUIDField(null=True)
    person_id = models.UUIDField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "question"], name="feedback_once_per_question")]
        indexes = [models.Index(fields=["tenant", "verdict"], name="feedback_tenant_verdict")]


class QuestionVideo(TenantRow):
    """One video of a question's scope, with the index version that the answer reads.

    The version is set when work starts; for a question of a comparison it is set when the comparison is made.
    """

    question = models.ForeignKey(
        Question, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    video = models.ForeignKey(Video, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    index_version = models.PositiveIntegerField(null=True)
    indexed_until_ms = models.BigIntegerField(null=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "question", "video"], name="question_video_once")]
        indexes = [models.Index(fields=["tenant", "video"], name="question_video_by_video")]
