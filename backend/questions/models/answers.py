"""The rows behind an answer: nodes of the search, their candidates, and the evidence."""

from __future__ import annotations

from django.db import models

from backend.library.models import Video
from backend.questions.models.questions import Question
from backend.tenancy.models import TenantRow


class Node(TenantRow):
    """One state on a path of the search tree, or one step of a method that calls tools.

    path: actions from the root, or the number of the step ("S03", and "S03/O1" for a step within it).
    detail: {tool, arguments, observation, forced, error} of a step, {} of any other node.
    """

    question = models.ForeignKey(
        Question, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    ordinal = models.PositiveIntegerField()
    path = models.CharField(max_length=200)
    action = models.CharField(max_length=32)
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
    reused_from = models.CharField(max_length=200, default="", blank=True)
    detail = models.JSONField(default=dict)
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
