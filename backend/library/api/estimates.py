"""POST /v1/videos:estimate."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import StrictSerializer, parsed
from backend.api.views import TenantView
from backend.billing.bodies.estimates import EstimateSerializer, estimate_body
from backend.billing.rates import money
from backend.library.bodies.recorded import within_longest
from backend.library.models import Profile
from backend.library.services.estimates import estimate_video
from backend.library.services.uploads import require_size


class VideoEstimateRequestSerializer(StrictSerializer):
    """What decides the charge and the duration of indexing. Give the duration, or else the size."""

    duration_ms = serializers.IntegerField(
        min_value=1, validators=[within_longest], required=False, help_text="Duration of the recording."
    )
    size_bytes = serializers.IntegerField(
        min_value=1, required=False, help_text="Size of the file, if you do not know its duration."
    )
    profile = serializers.ChoiceField(Profile.choices, default=Profile.GENERAL)
    live = serializers.BooleanField(
        default=False, help_text="Whether the recording arrives in segments, which are charged as live seconds."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("duration_ms" in attrs) == ("size_bytes" in attrs):
            message = "Give either duration_ms or size_bytes."
            raise serializers.ValidationError({"duration_ms": message}, code="duration_or_size")
        return attrs


class VideoEstimateView(TenantView):
    scopes = {"POST": "videos:read"}
    free = True

    @extend_schema(
        operation_id="estimateVideo",
        tags=["Videos"],
        request=VideoEstimateRequestSerializer,
        responses=EstimateSerializer,
    )
    def post(self, request: Request) -> Response:
        """Estimate the charge and the duration of indexing a recording. Nothing is stored and nothing is reserved."""
        body = parsed(VideoEstimateRequestSerializer, request)
        require_size(body.get("size_bytes", 0))
        found = estimate_video(**body)
        return Response(estimate_body(found.charge, currency=found.currency, duration=found.duration, exact=money))


routes: list[Any] = [path("videos:estimate", VideoEstimateView.as_view())]
