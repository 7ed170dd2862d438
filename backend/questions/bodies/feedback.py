"""Bodies of feedback."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from backend.api.bodies import StrictSerializer
from backend.api.public_ids import encode_creator
from backend.questions.models import Feedback, Verdict
from gpu_workers.engine.answering.contract import MAX_CHOICES


class FeedbackRequestSerializer(StrictSerializer):
    """A verdict on an answer, with the right answer if you know it."""

    verdict = serializers.ChoiceField(Verdict.choices, help_text="Whether the answer was right or wrong.")
    note = serializers.CharField(
        max_length=4_000, required=False, allow_blank=True, default="", help_text="A remark in your own words."
    )
    correct_answer = serializers.CharField(
        max_length=4_000, required=False, allow_blank=True, default="", help_text="The answer that would be right."
    )
    correct_choice = serializers.IntegerField(
        min_value=0,
        max_value=MAX_CHOICES - 1,
        required=False,
        allow_null=True,
        help_text="Index of the right choice in the question's choices, from 0.",
    )


class FeedbackSerializer(serializers.Serializer[Any]):
    """A verdict on an answer."""

    verdict = serializers.ChoiceField(Verdict.choices, help_text="Whether the answer was right or wrong.")
    note = serializers.CharField(help_text="A remark; empty if none was given.")
    correct_answer = serializers.CharField(help_text="The answer that would be right; empty if none was given.")
    correct_choice = serializers.IntegerField(
        allow_null=True, help_text="Index of the right choice in the question's choices, from 0."
    )
    created_by = serializers.SerializerMethodField(
        help_text="The key (`key_…`) or the person (`per_…`) that gave this feedback."
    )
    created_at = serializers.DateTimeField(help_text="Time of the first feedback on this answer.")
    updated_at = serializers.DateTimeField(help_text="Time of the latest change.")

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_created_by(self, row: Feedback) -> str | None:
        return encode_creator(person_id=row.person_id, api_key_id=row.api_key_id)
