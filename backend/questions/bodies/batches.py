"""Bodies of question batches."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.api.bodies import MetadataField, NameField, StrictSerializer
from backend.api.listing import LabelledListQuerySerializer
from backend.api.public_ids import PublicIdField
from backend.billing.bodies.amounts import ChargeSerializer
from backend.jobs.bodies import PRIORITY_HELP, DeadlineField, PriorityField
from backend.questions.bodies.common import CACHED, SCOPE_FIELDS
from backend.questions.bodies.questions import (
    EFFORT_HELP,
    METHOD_HELP,
    METHODS,
    QuestionBudgetRequestSerializer,
    QuestionFieldsSerializer,
)
from backend.questions.models import BatchStatus
from backend.questions.queries.scopes import MAX_VIDEOS
from backend.questions.services.batches import MAX_QUESTIONS
from gpu_workers.engine.answering.contract import EFFORTS

_DEFAULTS = ("method", "effort", "budget")


class BatchQuestionRequestSerializer(QuestionFieldsSerializer):
    """A question of a batch. For parts that it leaves out, the batch's scope, method, effort and budget apply."""

    method = serializers.ChoiceField(METHODS, required=False, help_text=METHOD_HELP)
    effort = serializers.ChoiceField(EFFORTS, required=False, help_text=EFFORT_HELP)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        # A question without a scope is checked with the batch, which may have one.
        return super().validate(attrs) if any(name in attrs for name in SCOPE_FIELDS) else attrs


class QuestionBatchRequestSerializer(StrictSerializer):
    """Questions that are asked together, with defaults for the parts that a question leaves out."""

    questions: Any = serializers.ListSerializer(
        child=BatchQuestionRequestSerializer(),
        min_length=1,
        max_length=MAX_QUESTIONS,
        help_text=f"Questions to ask, 1 to {MAX_QUESTIONS}.",
    )
    video_ids = serializers.ListField(
        child=PublicIdField("vid"),
        required=False,
        min_length=1,
        max_length=MAX_VIDEOS,
        help_text="Videos to read for questions that name neither videos nor a collection.",
    )
    collection_id = PublicIdField(
        "col", required=False, help_text="Collection to read for questions that name neither videos nor a collection."
    )
    method = serializers.ChoiceField(METHODS, required=False, help_text="Answering method of questions that name none.")
    effort = serializers.ChoiceField(EFFORTS, required=False, help_text="Effort of questions that name none.")
    budget = QuestionBudgetRequestSerializer(required=False, help_text="Limits of each question that names none.")
    external_id = NameField(
        max_length=200, required=False, allow_blank=True, default="", help_text="Your own id of the batch."
    )
    metadata = MetadataField(required=False, help_text="Your own labels of the batch.")
    priority = PriorityField(source="rank", required=False, help_text=PRIORITY_HELP)
    deadline_at = DeadlineField(
        required=False, help_text="When questions fail that have no answer by then: after a day."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Return the questions; those without scope, method, effort or budget get the batch's."""
        scope = {name: attrs.pop(name) for name in SCOPE_FIELDS if name in attrs}
        if len(scope) > 1:
            raise serializers.ValidationError("Give either video_ids or collection_id.", code="scope_required")
        defaults = {name: attrs.pop(name) for name in _DEFAULTS if name in attrs}
        faults: list[dict[str, Any]] = []
        questions = []
        for question in attrs["questions"]:
            has_scope = any(name in question for name in SCOPE_FIELDS)
            faults.append({} if has_scope or scope else {"non_field_errors": [_no_scope()]})
            questions.append({**defaults, **({} if has_scope else scope), **question})
        if any(faults):
            raise serializers.ValidationError({"questions": faults})
        return {**attrs, "questions": questions}


def _no_scope() -> serializers.ErrorDetail:
    return serializers.ErrorDetail(
        "Give either video_ids or collection_id, for the question or for the batch.", "scope_required"
    )


class QuestionBatchQuerySerializer(LabelledListQuerySerializer):
    """Which batches a list shows."""

    status = serializers.ChoiceField(BatchStatus.choices, required=False, help_text="Only batches with this status.")
    external_id = NameField(max_length=200, required=False, help_text="Only batches with this id of your own.")


class BatchCountsSerializer(serializers.Serializer[Any]):
    """Number of questions by status."""

    total = serializers.IntegerField(source="batch.total", help_text="Questions of the batch.")
    queued = serializers.IntegerField(source="counts.statuses.queued", help_text="Questions that wait.")
    running = serializers.IntegerField(source="counts.statuses.running", help_text="Questions that are worked on.")
    succeeded = serializers.IntegerField(source="counts.statuses.succeeded", help_text="Questions that have an answer.")
    failed = serializers.IntegerField(source="counts.statuses.failed", help_text="Questions that failed.")
    canceled = serializers.IntegerField(source="counts.statuses.canceled", help_text="Questions that were canceled.")


class BatchUsageSerializer(serializers.Serializer[Any]):
    """What the answers of a batch consumed so far."""

    calls = serializers.IntegerField(help_text="Number of model calls.")
    prompt_tokens = serializers.IntegerField(help_text="Tokens that were sent to models, cached ones included.")
    cached_tokens = serializers.IntegerField(help_text=CACHED)
    completion_tokens = serializers.IntegerField(help_text="Tokens that models wrote.")


class QuestionBatchSerializer(serializers.Serializer[Any]):
    """A batch with the counts of its questions."""

    id = PublicIdField("bat", source="batch.id", help_text="Id of the batch.")
    object = serializers.CharField(default="question_batch", read_only=True, help_text="Always `question_batch`.")
    status = serializers.ChoiceField(
        BatchStatus.choices,
        source="batch.status",
        help_text="`completed` means that no question is open. Read `counts` to learn how many have an answer.",
    )
    external_id = serializers.CharField(source="batch.external_id", help_text="Your own id of the batch.")
    metadata = serializers.DictField(
        source="batch.metadata", child=serializers.CharField(), help_text="Your own labels of the batch."
    )
    counts = BatchCountsSerializer(source="*", help_text="Number of questions by status.")
    finish_reasons = serializers.DictField(
        source="counts.finish_reasons",
        child=serializers.IntegerField(),
        help_text="Number of questions by finish reason.",
    )
    usage = BatchUsageSerializer(source="counts.usage", help_text="What the answers consumed so far.")
    charge = ChargeSerializer(
        source="counts.charge",
        help_text="What the questions are charged together. `counts` says how many have an answer.",
    )
    created_at = serializers.DateTimeField(source="batch.created_at", help_text="When the batch was asked.")
    completed_at = serializers.DateTimeField(
        source="batch.completed_at", allow_null=True, help_text="When the last question got its outcome."
    )
