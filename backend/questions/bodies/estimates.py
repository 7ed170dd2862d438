"""Bodies of the estimate of a question."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.billing.bodies.estimates import EstimateSerializer, estimate_body
from backend.billing.rates import money
from backend.questions.bodies.common import SCOPE_FIELDS, ScopeRequestSerializer
from backend.questions.bodies.questions import (
    CHOICES_HELP,
    EFFORT_HELP,
    METHOD_HELP,
    METHODS,
    QUESTION_CHARACTERS,
    ROUTE_HELP,
)
from backend.questions.services.estimates import QuestionEstimate
from gpu_workers.engine.answering.contract import EFFORTS, MAX_CHOICES, ROUTE_WISHES
from gpu_workers.engine.answering.understood import ROUTES


class QuestionEstimateRequestSerializer(ScopeRequestSerializer):
    """What decides the charge and the duration of a question. With a scope, the reply also says what a scan would
    take. The question may still be missing."""

    method = serializers.ChoiceField(METHODS, default="ava", help_text=METHOD_HELP)
    effort = serializers.ChoiceField(EFFORTS, default="medium", help_text=EFFORT_HELP)
    question = serializers.CharField(
        source="text", max_length=QUESTION_CHARACTERS, required=False, help_text="The question in your own words."
    )
    choices = serializers.ListField(
        child=serializers.CharField(max_length=1_000), required=False, max_length=MAX_CHOICES, help_text=CHOICES_HELP
    )
    route = serializers.ChoiceField(ROUTE_WISHES, default="auto", help_text=ROUTE_HELP)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        is_about_videos = any(name in attrs for name in ("text", *SCOPE_FIELDS, "start_ms", "end_ms", "choices"))
        return super().validate(attrs) if is_about_videos else attrs


class ScanEstimateSerializer(serializers.Serializer[Any]):
    """What a scan takes at most: the calls that judge the events of the scope. Verdicts that an earlier question paid
    for cost no call."""

    calls = serializers.IntegerField(help_text="Number of model calls.")
    prompt_tokens = serializers.IntegerField(help_text="Tokens that will be sent to the model, about.")
    completion_tokens = serializers.IntegerField(help_text="Tokens that the model will write, about.")
    seconds = serializers.FloatField(help_text="How long the calls will take if the model is idle, about.")


class QuestionEstimateSerializer(EstimateSerializer):
    """An estimate of a question before it is asked. `low` and `high` enclose about 8 of 10 cases of your own
    history."""

    route = serializers.ChoiceField(
        ROUTES,
        allow_null=True,
        help_text="The route that the question will be answered by: the one that you name. Null if the question is yet "
        "to be read, without a scope, and for a method without routes.",
    )
    certain = serializers.BooleanField(
        allow_null=True,
        help_text="Whether the route is known. False if reading the question will choose it. Null without a scope.",
    )
    scan = ScanEstimateSerializer(
        allow_null=True,
        help_text="What a scan will take at most, if the question is answered by one; null if it cannot be. A question "
        "is only scanned if it clearly asks for that, or if you name the route.",
    )


def question_estimate_body(found: QuestionEstimate) -> dict[str, Any]:
    routed = found.routed
    return estimate_body(
        found.charge,
        currency=found.currency,
        duration=found.duration,
        exact=money,
        serializer=QuestionEstimateSerializer,
        route=routed.route if routed else None,
        certain=routed.certain if routed else None,
        scan=routed.scan if routed else None,
    )
