"""Bodies of questions: those of requests, and one shape for reads, lists, waits, streams and batch results."""

from __future__ import annotations

from typing import Any, get_args

from rest_framework import serializers

from backend.api.bodies import LanguageField, MetadataField, NameField, ResourceErrorSerializer, StrictSerializer
from backend.api.listing import LabelledListQuerySerializer
from backend.api.public_ids import PublicIdField
from backend.billing.bodies.amounts import ChargeSerializer
from backend.jobs.bodies import PRIORITY_HELP, DeadlineField, PriorityField
from backend.questions.bodies.answers import (
    ClaimSerializer,
    CompositionSerializer,
    EvidenceSerializer,
    PartialAnswerSerializer,
    ProgressSerializer,
)
from backend.questions.bodies.common import (
    SCOPE_FIELDS,
    ModelUsageSerializer,
    ScopeRequestSerializer,
)
from backend.questions.bodies.feedback import FeedbackSerializer
from backend.questions.bodies.nodes import NodeSerializer
from backend.questions.bodies.understood import UnderstoodSerializer
from backend.questions.models import QuestionStatus, Verdict
from gpu_workers.engine.answering.catalogue import CATALOGUE
from gpu_workers.engine.answering.contract import CHECKS, EFFORTS, MAX_CHOICES, ROUTE_WISHES, FinishReason

METHODS = tuple(CATALOGUE)
FINISH_REASONS: tuple[str, ...] = get_args(FinishReason)

METHOD_HELP = "Answering method, one of `GET /v1/methods`. `ava` searches the Event Knowledge Graph by default."
EFFORT_HELP = (
    "How much the search may consume: `low`, `medium`, `high`, or `paper` for the settings of the method's own paper."
)
CHOICES_HELP = f"Answers to choose from, 2 to {MAX_CHOICES}. Leave this out for an open question."
ROUTE_HELP = (
    "How method `ava` answers: `search` from the nearest events, `time` from what a stretch of time "
    "holds, `whole` from overview, topics and events, `scan` by judging a statement over every event, `objects` by "
    "counting tracked things, or `auto`, where the question's words decide. Other methods take only `auto`."
)
QUESTION_CHARACTERS = 4_000
"""Maximum length of a question."""

# --- requests ---------------------------------------------------------------------------------------------------------


class QuestionBudgetRequestSerializer(StrictSerializer):
    """Limits of one question. A limit that is left out does not apply."""

    max_calls = serializers.IntegerField(
        min_value=1, max_value=10_000, required=False, help_text="Maximum number of model calls."
    )
    max_tokens = serializers.IntegerField(
        min_value=1,
        max_value=100_000_000,
        required=False,
        help_text="Maximum of prompt and completion tokens together.",
    )
    max_seconds = serializers.FloatField(
        min_value=0.1, max_value=86_400, required=False, help_text="Maximum duration of the search in seconds."
    )


class QuestionFieldsSerializer(ScopeRequestSerializer):
    """The common fields of a question asked alone and a question of a batch."""

    question = serializers.CharField(
        source="text", max_length=QUESTION_CHARACTERS, help_text="The question in your own words."
    )
    choices = serializers.ListField(
        child=serializers.CharField(max_length=1_000),
        required=False,
        max_length=MAX_CHOICES,
        help_text=CHOICES_HELP,
    )
    method = serializers.ChoiceField(METHODS, default="ava", help_text=METHOD_HELP)
    effort = serializers.ChoiceField(EFFORTS, default="medium", help_text=EFFORT_HELP)
    check = serializers.ChoiceField(
        CHECKS,
        default="auto",
        help_text="How method `ava` looks again when its answer is in doubt: `off`, `frames` (one look at frames), "
        "`inspect` (planned looks in rounds), or `auto`, where the effort decides. Other methods take only `auto`.",
    )
    route = serializers.ChoiceField(ROUTE_WISHES, default="auto", help_text=ROUTE_HELP)
    language = LanguageField(
        max_length=8,
        required=False,
        allow_blank=True,
        default="",
        help_text="Language of the answer by its ISO 639-1 code, such as `de`. By default the question's own.",
    )
    budget = QuestionBudgetRequestSerializer(required=False, help_text="Limits of this question.")
    seed = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, default=0, help_text="Seed of the sampling, for answers that can be repeated."
    )
    external_id = NameField(
        max_length=200, required=False, allow_blank=True, default="", help_text="Your own id of the question."
    )
    metadata = MetadataField(required=False, help_text="Your own labels of the question.")


class QuestionUpdateRequestSerializer(StrictSerializer):
    """Changes of a question, or of all questions of a batch, that have no outcome."""

    priority = PriorityField(source="rank", required=False, help_text=PRIORITY_HELP)
    deadline_at = DeadlineField(required=False, help_text="When it fails if it has no answer by then.")


class QuestionRequestSerializer(QuestionFieldsSerializer):
    """A question about videos or a collection, or the next question of a session."""

    priority = PriorityField(source="rank", required=False, help_text=PRIORITY_HELP)
    deadline_at = DeadlineField(required=False, help_text="When it fails if it has no answer by then: after an hour.")

    session_id = PublicIdField(
        "ses",
        required=False,
        allow_null=True,
        help_text="Session that the question continues. Without videos or a collection it has the session's scope.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        has_scope = any(name in attrs for name in SCOPE_FIELDS)
        return super().validate(attrs) if has_scope or attrs.get("session_id") is None else attrs


class QuestionQuerySerializer(LabelledListQuerySerializer):
    """Which questions a list shows."""

    status = serializers.ChoiceField(
        QuestionStatus.choices, required=False, help_text="Only questions with this status."
    )
    external_id = NameField(max_length=200, required=False, help_text="Only questions with this id of your own.")
    video_id = PublicIdField("vid", required=False, help_text="Only questions whose scope has this video.")
    batch_id = PublicIdField("bat", required=False, help_text="Only questions of this batch, in the batch's order.")
    comparison_id = PublicIdField("cmp", required=False, help_text="Only questions of this comparison.")
    session_id = PublicIdField("ses", required=False, help_text="Only questions of this session.")
    feedback = serializers.ChoiceField(
        Verdict.choices, source="verdict", required=False, help_text="Only questions with this feedback."
    )


# --- answers ----------------------------------------------------------------------------------------------------------


class QuestionBudgetSerializer(serializers.Serializer[Any]):
    """Limits of one question. A limit that is left out does not apply."""

    max_calls = serializers.IntegerField(required=False, help_text="Maximum number of model calls.")
    max_tokens = serializers.IntegerField(required=False, help_text="Maximum of prompt and completion tokens together.")
    max_seconds = serializers.FloatField(required=False, help_text="Maximum duration of the search in seconds.")


class QuestionSerializer(serializers.Serializer[Any]):
    """A question with its answer, its evidence and what it consumed."""

    id = PublicIdField("qst", source="question.id", help_text="Id of the question.")
    object = serializers.CharField(default="question", read_only=True, help_text="Always `question`.")
    status = serializers.ChoiceField(
        QuestionStatus.choices,
        source="question.status",
        help_text="`queued` and `running` questions are open; the others have their outcome.",
    )
    stage = serializers.CharField(source="question.stage", help_text="The stage that is worked on; empty without one.")
    progress = ProgressSerializer(allow_null=True, help_text="Progress of an open question.")
    priority = PriorityField(
        source="rank", allow_null=True, help_text=f"{PRIORITY_HELP} Null once the question has its outcome."
    )
    deadline_at = serializers.DateTimeField(
        allow_null=True, help_text="When an open question fails if it has no answer by then."
    )
    paused_at = serializers.DateTimeField(
        allow_null=True, help_text="When an open question was paused; null if it is not."
    )
    question = serializers.CharField(source="question.text", help_text="The question.")
    choices = serializers.ListField(
        source="question.choices", child=serializers.CharField(), help_text="Choices; empty for an open question."
    )
    video_ids = serializers.ListField(child=PublicIdField("vid"), help_text="Videos of the scope.")
    start_ms = serializers.IntegerField(
        source="question.start_ms", allow_null=True, help_text="Begin of the span that is read in each video."
    )
    end_ms = serializers.IntegerField(
        source="question.end_ms", allow_null=True, help_text="End of the span that is read in each video."
    )
    method = serializers.ChoiceField(METHODS, source="question.method", help_text=METHOD_HELP)
    effort = serializers.ChoiceField(EFFORTS, source="question.effort", help_text=EFFORT_HELP)
    check = serializers.ChoiceField(
        CHECKS, source="question.check_mode", help_text="How method `ava` looks again when its answer is in doubt."
    )
    route = serializers.ChoiceField(
        ROUTE_WISHES, source="question.route", help_text="The route that was asked for; `auto` without a wish."
    )
    language = serializers.CharField(
        source="question.language",
        allow_blank=True,
        help_text="Language of the answer by its ISO 639-1 code: as you gave it, or as the question's words show it; "
        "empty while it is unknown.",
    )
    budget = QuestionBudgetSerializer(source="question.budget", help_text="Limits of this question.")
    seed = serializers.IntegerField(source="question.seed", help_text="Seed of the sampling.")
    external_id = serializers.CharField(source="question.external_id", help_text="Your own id of the question.")
    metadata = serializers.DictField(
        source="question.metadata", child=serializers.CharField(), help_text="Your own labels of the question."
    )
    batch_id = PublicIdField(
        "bat", source="question.batch_id", allow_null=True, help_text="Batch of the question, if it has one."
    )
    comparison_id = PublicIdField(
        "cmp",
        source="question.comparison_id",
        allow_null=True,
        help_text="Comparison of the question, if it has one.",
    )
    session_id = PublicIdField(
        "ses", source="question.session_id", allow_null=True, help_text="Session of the question, if it has one."
    )
    turn = serializers.IntegerField(
        source="question.turn", allow_null=True, help_text="Position of the question in its session, from 1."
    )
    standalone_question = serializers.CharField(
        allow_null=True,
        help_text="The wording of a follow-up that the search used, with its references written out.",
    )
    understood = UnderstoodSerializer(
        allow_null=True, help_text="What the question's words were taken to ask for; null without an answer."
    )
    answer = serializers.CharField(
        source="question.answer",
        help_text="The answer; empty if there is none. See `finish_detail` for a text that is `unsupported`.",
    )
    choice = serializers.IntegerField(
        source="question.choice", allow_null=True, help_text="Index of the chosen choice, from 0."
    )
    finish_reason = serializers.ChoiceField(
        FINISH_REASONS, allow_null=True, help_text="Why the search ended; null while the question is open."
    )
    finish_detail = serializers.CharField(
        allow_null=True,
        help_text="Code behind a reason other than `answered`, such as `max_tokens`. `unsupported` comes with a text "
        "that nothing stands behind: no statement of it is supported, or it only repeats the question.",
    )
    confidence = serializers.FloatField(
        source="question.confidence",
        allow_null=True,
        help_text="Measured chance that the answer is right, 0 to 1. Null while the question is open, without an "
        "answer, and where nothing was calibrated for answers of this kind by these models.",
    )
    claims = ClaimSerializer(
        source="question.claims", many=True, help_text="The statements of the answer, with the evidence of each."
    )
    composition = CompositionSerializer(
        allow_null=True,
        help_text="The answer in parts if the question asks for a list, steps, a table, a count or a summary; null "
        "for a sentence. In the text `[1, 3]` counts the evidence from 1.",
    )
    evidence = EvidenceSerializer(
        many=True, help_text="The events that the answer cites, ordered by strength and then by time."
    )
    notes = serializers.ListField(
        source="question.notes",
        child=serializers.CharField(),
        help_text="What the answer had to do without, what was not looked at and why the search ended, in words.",
    )
    partial_answer = PartialAnswerSerializer(
        allow_null=True,
        help_text="The best answer so far, while the search runs. A question that has shown one is charged however it "
        "ends, and keeps it if it ends without an answer.",
    )
    usage = ModelUsageSerializer(allow_null=True, help_text="What the answer consumed; null while there is none.")
    charge = ChargeSerializer(
        source="question.charge",
        help_text="What the question is charged. The charge of a question that ends free is taken back.",
    )
    timings = serializers.DictField(
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="Durations in milliseconds: `queue_ms`, `engine_ms`, `llm_ms`, `total_ms`, and one for each stage, "
        "such as `search_ms`.",
    )
    models = serializers.DictField(
        source="question.model_names", child=serializers.CharField(), help_text="Names of the models by their roles."
    )
    method_version = serializers.CharField(
        source="question.method_version", help_text="Version of the method that answered; empty without an answer."
    )
    prompts = serializers.CharField(
        source="question.prompts",
        help_text="Digest of the wording of the service's prompts, 16 hex digits; empty without an answer.",
    )
    degraded = serializers.ListField(
        source="question.degraded",
        child=serializers.CharField(),
        help_text="Codes of what the method had to do without, such as `no_speech` (docs/errors.md).",
    )
    error = ResourceErrorSerializer(allow_null=True, help_text="Why the question failed; null if it did not.")
    feedback = FeedbackSerializer(allow_null=True, help_text="Your feedback on the answer; null without any.")
    created_at = serializers.DateTimeField(source="question.created_at", help_text="When the question was asked.")
    started_at = serializers.DateTimeField(
        source="question.started_at", allow_null=True, help_text="When work on the question began."
    )
    completed_at = serializers.DateTimeField(
        source="question.completed_at", allow_null=True, help_text="When the question got its outcome."
    )
    trace = NodeSerializer(
        source="nodes", many=True, required=False, help_text="The search tree; only with `include=trace`."
    )

    def to_representation(self, instance: Any) -> dict[str, Any]:
        body = super().to_representation(instance)
        if instance.nodes is None:
            del body["trace"]
        return body


class ProgressEventSerializer(serializers.Serializer[Any]):
    """Data of the stream's event `progress`."""

    id = PublicIdField("qst", source="question.id")
    status = serializers.ChoiceField(QuestionStatus.choices, source="question.status")
    stage = serializers.CharField(source="question.stage")
    progress = ProgressSerializer(allow_null=True)


class PartialEventSerializer(PartialAnswerSerializer):
    """Data of the stream's event `partial`."""

    id = PublicIdField("qst")
