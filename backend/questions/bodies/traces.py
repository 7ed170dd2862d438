"""Lines of an exported search tree: how the question ended and what was said of its answer, then the nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rest_framework import serializers

from backend.api.public_ids import PublicIdField
from backend.questions.bodies.feedback import FeedbackSerializer
from backend.questions.bodies.nodes import NodeSerializer
from backend.questions.bodies.questions import FINISH_REASONS, METHODS
from backend.questions.models import QuestionStatus
from backend.questions.queries.questions import QuestionView
from gpu_workers.engine.answering.contract import EFFORTS


class TraceOutcomeSerializer(serializers.Serializer[Any]):
    """How a question ended: the first line of a trace."""

    object = serializers.CharField(default="outcome", read_only=True, help_text="Always `outcome`.")
    question_id = PublicIdField("qst", source="question.id", help_text="Id of the question.")
    status = serializers.ChoiceField(
        QuestionStatus.choices, source="question.status", help_text="`queued` and `running` questions are open."
    )
    question = serializers.CharField(source="question.text", help_text="The question.")
    choices = serializers.ListField(
        source="question.choices", child=serializers.CharField(), help_text="Choices; empty for an open question."
    )
    video_ids = serializers.ListField(child=PublicIdField("vid"), help_text="Videos of the scope.")
    method = serializers.ChoiceField(METHODS, source="question.method", help_text="The answering method.")
    effort = serializers.ChoiceField(EFFORTS, source="question.effort", help_text="The effort that was asked for.")
    method_version = serializers.CharField(source="question.method_version", help_text="Version of the method.")
    prompts = serializers.CharField(source="question.prompts", help_text="Digest of the wording of the prompts.")
    answer = serializers.CharField(source="question.answer", help_text="The answer; empty if there is none.")
    choice = serializers.IntegerField(
        source="question.choice", allow_null=True, help_text="Index of the chosen choice, from 0."
    )
    finish_reason = serializers.ChoiceField(
        FINISH_REASONS, allow_null=True, help_text="Why the search ended; null while the question is open."
    )
    finish_detail = serializers.CharField(allow_null=True, help_text="Code behind a reason other than `answered`.")
    confidence = serializers.FloatField(
        source="question.confidence", allow_null=True, help_text="Measured chance that the answer is right, 0 to 1."
    )
    decided_by = serializers.SerializerMethodField(
        help_text="How the answer was drawn: `votes` of samples, `support` of the choices by the events, a single "
        "`sample`, or the name of a route; empty without an answer."
    )
    feedback = FeedbackSerializer(allow_null=True, help_text="Your feedback on the answer; null without any.")

    def get_decided_by(self, view: QuestionView) -> str:
        return str(view.question.signals.get("head", ""))


class TraceNodeSerializer(NodeSerializer):
    """A node of a trace: one line."""

    object = serializers.CharField(default="node", read_only=True, help_text="Always `node`.")
    question_id = PublicIdField("qst", source="node.question_id", help_text="Id of the question.")


def trace_lines(view: QuestionView) -> Iterator[dict[str, Any]]:
    """Yield the lines of a question's trace. view: with its nodes."""
    yield dict(TraceOutcomeSerializer(view).data)
    yield from (dict(TraceNodeSerializer(node).data) for node in view.nodes or ())
