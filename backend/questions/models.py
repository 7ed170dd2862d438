"""Questions and everything that led to their answers."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import models

from backend.library.models import Video
from backend.tenancy.models import TenantRow


class QuestionStatus(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"


OPEN = (QuestionStatus.QUEUED, QuestionStatus.RUNNING)
"""Statuses without an outcome, of questions and of searches."""


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
    created_at = models.DateTimeField(auto_now_add=True)
    completed_at = models.DateTimeField(null=True)


class Session(TenantRow):
    """A conversation: its questions are asked one after another and may refer to earlier answers.

    scope: {video_ids | collection_id, start_ms, end_ms} as requested; each question resolves it again.
    """

    scope = models.JSONField(default=dict)
    external_id = models.CharField(max_length=200, default="", blank=True)
    metadata = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)


class Question(TenantRow):
    status = models.CharField(max_length=16, choices=QuestionStatus.choices, default=QuestionStatus.QUEUED)
    stage = models.CharField(max_length=64, default="", blank=True)
    text = models.TextField(max_length=4_000)
    choices = models.JSONField(default=list)
    method = models.CharField(max_length=32, default="ava")
    effort = models.CharField(max_length=16, default="medium")
    # How a doubtful answer is checked: off, frames, inspect, or auto: the effort decides.
    check_mode = models.CharField(max_length=8, default="auto")
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

    answer = models.TextField(default="", blank=True)
    choice = models.PositiveSmallIntegerField(null=True)
    confidence = models.FloatField(null=True)
    finish_reason = models.CharField(max_length=32, default="", blank=True)
    # A stable code behind a reason that is not "answered", such as the limit that ended the search.
    finish_detail = models.CharField(max_length=64, default="", blank=True)
    # The best answer so far while the search still runs: {text, choice, score, path, level}.
    partial = models.JSONField(default=dict)
    # [{text, status, evidence: [ordinals]}]
    claims = models.JSONField(default=list)
    # {calls, prompt_tokens, cached_tokens, completion_tokens}
    usage = models.JSONField(default=dict)
    cost_amount = models.DecimalField(max_digits=20, decimal_places=10, default=0)
    cost_currency = models.CharField(max_length=3, default="USD")
    # {queue_ms, search_ms, llm_ms, total_ms, <stage>_ms}
    timings = models.JSONField(default=dict)
    model_names = models.JSONField(default=dict)
    error_code = models.CharField(max_length=64, default="", blank=True)
    error_message = models.TextField(default="", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        indexes = [
            models.Index(fields=["tenant", "-id"], name="question_tenant_newest"),
            models.Index(fields=["tenant", "batch", "batch_position"], name="question_tenant_batch"),
        ]
        constraints = [models.UniqueConstraint(fields=["tenant", "session", "turn"], name="question_session_turn")]


class Feedback(TenantRow):
    """A customer's verdict on an answer, with the right answer if the customer gives it."""

    question = models.ForeignKey(
        Question, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    verdict = models.CharField(max_length=8, choices=Verdict.choices)
    note = models.TextField(max_length=4_000, default="", blank=True)
    correct_answer = models.TextField(max_length=4_000, default="", blank=True)
    correct_choice = models.PositiveSmallIntegerField(null=True)
    api_key_id = models.UUIDField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "question"], name="feedback_once_per_question")]


class Search(TenantRow):
    """A retrieval without an answer: the events nearest to a query, ranked. A worker embeds the query and retrieves.

    settings: {views (with weights), fusion, limit, api_key_id} of the request. results: [{video_id, event_id, n,
    start_ms, end_ms, summary, score, frame_ms, frame_key, reasons: [{view, similarity, text}]}].
    """

    status = models.CharField(max_length=16, choices=QuestionStatus.choices, default=QuestionStatus.QUEUED)
    text = models.TextField(max_length=4_000)
    start_ms = models.BigIntegerField(null=True)
    end_ms = models.BigIntegerField(null=True)
    settings = models.JSONField(default=dict)
    results = models.JSONField(default=list)
    usage = models.JSONField(default=dict)
    timings = models.JSONField(default=dict)
    error_code = models.CharField(max_length=64, default="", blank=True)
    error_message = models.TextField(default="", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    completed_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        indexes = [models.Index(fields=["tenant", "-id"], name="search_tenant_newest")]


class SearchVideo(TenantRow):
    """One video of a search's scope, with the index version that was read (set when work starts)."""

    search = models.ForeignKey(
        Search, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    video = models.ForeignKey(Video, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    index_version = models.PositiveIntegerField(null=True)
    indexed_until_ms = models.BigIntegerField(null=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "search", "video"], name="search_video_once")]


class QuestionVideo(TenantRow):
    """One video of a question's scope, with the index version that the answer read (set when work starts)."""

    question = models.ForeignKey(
        Question, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    video = models.ForeignKey(Video, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    index_version = models.PositiveIntegerField(null=True)
    indexed_until_ms = models.BigIntegerField(null=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "question", "video"], name="question_video_once")]


class Node(TenantRow):
    """One state on a path of the search tree."""

    question = models.ForeignKey(
        Question, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    ordinal = models.PositiveIntegerField()
    path = models.CharField(max_length=100)
    action = models.CharField(max_length=8)
    depth = models.PositiveSmallIntegerField()
    # [{event_id, rank, score, number, views}]
    events = models.JSONField(default=list)
    sub_queries = models.JSONField(default=list)
    # Null if the node has no answer of its own; "insufficient" if it abstained.
    answer = models.TextField(null=True)
    score = models.FloatField(null=True)
    # Findings of an inspection so far, in words (action IN).
    seen = models.JSONField(default=list)
    # Why the tree was not searched, if the events alone decided the choice (action CS).
    note = models.TextField(default="", blank=True)
    reused_from = models.CharField(max_length=100, default="", blank=True)
    error_code = models.CharField(max_length=64, default="", blank=True)
    # {prompt_tokens, completion_tokens, frames_used, frames_available}
    usage = models.JSONField(default=dict)
    # Milliseconds from the begin of the search.
    started_ms = models.BigIntegerField(default=0)
    wall_ms = models.BigIntegerField(default=0)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "question", "ordinal"], name="node_question_ordinal")]


class Candidate(TenantRow):
    """One sampled (answer, reasoning) pair of a node."""

    node = models.ForeignKey(Node, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    ordinal = models.PositiveSmallIntegerField()
    answer = models.TextField(default="", blank=True)
    choice = models.PositiveSmallIntegerField(null=True)
    reasoning = models.TextField(default="", blank=True)
    agreement = models.FloatField(null=True)
    coherence = models.FloatField(null=True)
    score = models.FloatField(null=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "node", "ordinal"], name="candidate_node_ordinal")]


class Evidence(TenantRow):
    """A citation of an answer. event_id and frame_ms name rows of an index version that may be purged, so no key."""

    question = models.ForeignKey(
        Question, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    video = models.ForeignKey(Video, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    ordinal = models.PositiveSmallIntegerField()
    event_id = models.UUIDField()
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    frame_ms = models.BigIntegerField(null=True)
    # A copy made for this question, under the tenant's evidence prefix.
    frame_key = models.CharField(max_length=255, default="", blank=True)
    quote = models.TextField(default="", blank=True)
    status = models.CharField(max_length=16, default="unverified")
    confidence = models.FloatField(null=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "question", "ordinal"], name="evidence_question_ordinal")
        ]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a question or a search failed. code: stable. message: a sentence for the customer."""

    code: str
    message: str


def failure_of(row: Question | Search) -> Failure | None:
    """Return why a question or a search failed; None if it did not."""
    return Failure(row.error_code, row.error_message) if row.status == QuestionStatus.FAILED else None
