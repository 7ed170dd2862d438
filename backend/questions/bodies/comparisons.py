"""Bodies of comparisons: what a customer compares, and how far the comparison is."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.api.bodies import MAX_TIME_MS, MetadataField, NameField, StrictSerializer
from backend.api.listing import LabelledListQuerySerializer
from backend.api.public_ids import PublicIdField
from backend.billing.bodies.amounts import ChargeSerializer, ExactDecimalField
from backend.questions.bodies.common import SCOPE_FIELDS, ScopeRequestSerializer
from backend.questions.bodies.comparison_figures import ComparisonReportSerializer
from backend.questions.bodies.questions import (
    EFFORT_HELP,
    METHOD_HELP,
    METHODS,
    QuestionBudgetRequestSerializer,
    QuestionBudgetSerializer,
)
from backend.questions.models import ComparisonStatus, Grading
from backend.questions.queries.scopes import MAX_VIDEOS
from backend.questions.services.comparison_drafts import MAX_ARMS, MAX_QUESTIONS, MIN_ARMS
from gpu_workers.engine.answering.contract import CHECKS, EFFORTS, MAX_CHOICES

CHECK_HELP = "How method `ava` looks again when its answer is in doubt. Other methods take only `auto`."

# --- requests ---------------------------------------------------------------------------------------------------------


class LabeledSpanRequestSerializer(StrictSerializer):
    """A span of a video that shows the right answer."""

    video_id = PublicIdField("vid", help_text="Video of the span, one of the question's scope.")
    start_ms = serializers.IntegerField(min_value=0, max_value=MAX_TIME_MS, help_text="Begin in milliseconds.")
    end_ms = serializers.IntegerField(min_value=1, max_value=MAX_TIME_MS, help_text="End in milliseconds.")


class ComparisonItemRequestSerializer(ScopeRequestSerializer):
    """A question that every arm is asked, with its right answer if you know it. No model is shown the labels."""

    question = serializers.CharField(source="text", max_length=4_000, help_text="The question in your own words.")
    choices = serializers.ListField(
        child=serializers.CharField(max_length=1_000),
        required=False,
        max_length=MAX_CHOICES,
        help_text=f"Answers to choose from, 2 to {MAX_CHOICES}. Leave this out for an open question.",
    )
    correct_choice = serializers.IntegerField(
        min_value=0, max_value=MAX_CHOICES - 1, required=False, help_text="Index of the right choice, from 0."
    )
    correct_answer = serializers.CharField(
        max_length=4_000,
        required=False,
        allow_blank=True,
        help_text="The right answer in words. For a question with choices, the words of one of them.",
    )
    evidence: Any = serializers.ListSerializer(
        child=LabeledSpanRequestSerializer(),
        required=False,
        max_length=50,
        help_text="Spans that show the right answer, at most 50.",
    )
    kind = serializers.CharField(
        max_length=64,
        required=False,
        allow_blank=True,
        help_text="Your word for the sort of question, such as `counting`. Figures are also given by kind.",
    )
    external_id = NameField(max_length=200, required=False, allow_blank=True, help_text="Your own id of the question.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        # A question without a scope is checked with the comparison, which may have one.
        return super().validate(attrs) if any(name in attrs for name in SCOPE_FIELDS) else attrs


class ComparisonArmRequestSerializer(StrictSerializer):
    """A method with its effort: one of the ways to answer that are compared."""

    method = serializers.ChoiceField(METHODS, help_text=METHOD_HELP)
    effort = serializers.ChoiceField(EFFORTS, required=False, help_text=EFFORT_HELP)
    check = serializers.ChoiceField(CHECKS, default="auto", help_text=CHECK_HELP)
    label: Any = NameField(
        max_length=100,
        required=False,
        allow_blank=True,
        help_text="Your own name of the arm. By default the method with its effort.",
    )


class ComparisonRequestSerializer(StrictSerializer):
    """Questions and the arms that answer each of them."""

    name = NameField(max_length=200, required=False, allow_blank=True, help_text="Your own name of the comparison.")
    questions: Any = serializers.ListSerializer(
        child=ComparisonItemRequestSerializer(),
        min_length=1,
        max_length=MAX_QUESTIONS // MIN_ARMS,
        help_text=f"Questions to ask. Questions times arms times repeats are at most {MAX_QUESTIONS}.",
    )
    arms: Any = serializers.ListSerializer(
        child=ComparisonArmRequestSerializer(),
        min_length=MIN_ARMS,
        max_length=MAX_ARMS,
        help_text=f"Arms to compare, {MIN_ARMS} to {MAX_ARMS} that differ. Pairs are formed with the first arm.",
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
    effort = serializers.ChoiceField(EFFORTS, default="medium", help_text="Effort of arms that name none.")
    seed = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, default=0, help_text="Seed of the sampling, and of the order of the arms."
    )
    repeats = serializers.IntegerField(
        min_value=1, max_value=3, default=1, help_text="How often each arm is asked each question, 1 to 3."
    )
    budget = QuestionBudgetRequestSerializer(required=False, help_text="Limits of each question of each arm.")
    max_total_charge = serializers.DecimalField(
        max_digits=12,
        decimal_places=6,
        min_value=0,
        required=False,
        help_text="Charge of all answers above which the questions that are still open are canceled, in the currency "
        "of your prices. Answers that are being made when it is passed are canceled, too.",
    )
    grading = serializers.ChoiceField(
        Grading.choices,
        default=Grading.CHOICE,
        help_text="How answers are graded: `choice` by the index of the right choice, `exact` also by the words of the "
        "right answer, `judge` also by a model that reads the answer. What the judge is charged is no arm's charge.",
    )
    external_id = NameField(
        max_length=200, required=False, allow_blank=True, default="", help_text="Your own id of the comparison."
    )
    metadata = MetadataField(required=False, help_text="Your own labels of the comparison.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Return the parts; questions without a scope and arms without an effort get the comparison's."""
        scope = {name: attrs.pop(name) for name in SCOPE_FIELDS if name in attrs}
        if len(scope) > 1:
            raise serializers.ValidationError("Give either video_ids or collection_id.", code="scope_required")
        faults: list[dict[str, Any]] = []
        questions = []
        for question in attrs["questions"]:
            has_scope = any(name in question for name in SCOPE_FIELDS)
            faults.append({} if has_scope or scope else {"non_field_errors": [_no_scope()]})
            questions.append({**({} if has_scope else scope), **question})
        if any(faults):
            raise serializers.ValidationError({"questions": faults})
        effort = attrs.pop("effort")
        arms = [{"effort": effort, **arm} for arm in attrs["arms"]]
        return {**attrs, "questions": questions, "arms": arms}


def _no_scope() -> serializers.ErrorDetail:
    return serializers.ErrorDetail(
        "Give either video_ids or collection_id, for the question or for the comparison.", "scope_required"
    )


class ComparisonQuerySerializer(LabelledListQuerySerializer):
    """Which comparisons a list shows."""

    status = serializers.ChoiceField(
        ComparisonStatus.choices, required=False, help_text="Only comparisons with this status."
    )
    external_id = NameField(max_length=200, required=False, help_text="Only comparisons with this id of your own.")


# --- replies ----------------------------------------------------------------------------------------------------------


class ComparisonArmSerializer(serializers.Serializer[Any]):
    """An arm of a comparison."""

    label: Any = serializers.CharField(help_text="Name of the arm.")
    method = serializers.ChoiceField(METHODS, help_text=METHOD_HELP)
    effort = serializers.ChoiceField(EFFORTS, help_text=EFFORT_HELP)
    check = serializers.ChoiceField(CHECKS, help_text=CHECK_HELP)


class PinnedVideoSerializer(serializers.Serializer[Any]):
    """A video of a comparison, with what every arm reads of it."""

    video_id = PublicIdField("vid", help_text="Id of the video.")
    index_version = serializers.IntegerField(help_text="Number of the index version that every arm reads.")
    indexed_until_ms = serializers.IntegerField(
        help_text="How far the video was indexed when the comparison was made, in milliseconds. No arm reads further."
    )


class ComparisonCountsSerializer(serializers.Serializer[Any]):
    """Number of questions by status: items times arms times repeats."""

    total = serializers.IntegerField(source="comparison.total", help_text="Questions of the comparison.")
    queued = serializers.IntegerField(source="counts.statuses.queued", help_text="Questions that wait.")
    running = serializers.IntegerField(source="counts.statuses.running", help_text="Questions that are worked on.")
    succeeded = serializers.IntegerField(source="counts.statuses.succeeded", help_text="Questions that have an answer.")
    failed = serializers.IntegerField(source="counts.statuses.failed", help_text="Questions that failed.")
    canceled = serializers.IntegerField(source="counts.statuses.canceled", help_text="Questions that were canceled.")
    items_left_out = serializers.IntegerField(
        source="counts.left_out",
        help_text="Items that are in no arm's figures, because a video was deleted before every arm was asked.",
    )


class ComparisonSerializer(serializers.Serializer[Any]):
    """A comparison: its arms, and how far it is."""

    id = PublicIdField("cmp", source="comparison.id", help_text="Id of the comparison.")
    object = serializers.CharField(default="comparison", read_only=True, help_text="Always `comparison`.")
    status = serializers.ChoiceField(
        ComparisonStatus.choices,
        source="comparison.status",
        help_text="`running` until no question is open, `grading` while a judge reads the answers. `completed` says "
        "that no question is open. Read `counts` to learn how many have an answer.",
    )
    finish_detail = serializers.CharField(
        allow_null=True,
        help_text="Code of why the comparison ended early or lacks grades, such as `comparison_budget`.",
    )
    name = serializers.CharField(source="comparison.name", help_text="Your own name of the comparison.")
    arms = ComparisonArmSerializer(source="comparison.arms", many=True, help_text="The arms, in your order.")
    videos = PinnedVideoSerializer(many=True, help_text="The videos, with the index that every arm reads.")
    seed = serializers.IntegerField(
        source="comparison.seed", help_text="Seed of the sampling, and of the order of the arms."
    )
    repeats = serializers.IntegerField(
        source="comparison.repeats", help_text="How often each arm is asked each question."
    )
    budget = QuestionBudgetSerializer(source="comparison.budget", help_text="Limits of each question of each arm.")
    max_total_charge = ExactDecimalField(
        source="comparison.max_total_charge",
        allow_null=True,
        help_text="Charge of all answers above which open questions are canceled; null without a limit.",
    )
    grading = serializers.ChoiceField(Grading.choices, source="comparison.grading", help_text="How answers are graded.")
    external_id = serializers.CharField(source="comparison.external_id", help_text="Your own id of the comparison.")
    metadata = serializers.DictField(
        source="comparison.metadata", child=serializers.CharField(), help_text="Your own labels of the comparison."
    )
    counts = ComparisonCountsSerializer(source="*", help_text="Number of questions by status.")
    charge = ChargeSerializer(source="counts.charge", help_text="What the questions are charged together.")
    created_at = serializers.DateTimeField(source="comparison.created_at", help_text="When the comparison was made.")
    completed_at = serializers.DateTimeField(
        source="comparison.completed_at", allow_null=True, help_text="When the last outcome or grade was there."
    )
    grading_charge = ExactDecimalField(
        required=False,
        help_text="What the judge is charged so far, which is no arm's charge; only for a single comparison.",
    )
    report = ComparisonReportSerializer(
        required=False, help_text="Figures of every arm and pair so far; only for a single comparison."
    )

    def to_representation(self, instance: Any) -> dict[str, Any]:
        body = super().to_representation(instance)
        if instance.report is None:
            del body["report"], body["grading_charge"]
        return body
