"""Bodies of answering methods."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from gpu_workers.engine.answering.contract import EFFORTS


class TypicalCallsSerializer(serializers.Serializer[Any]):
    """Number of model calls of a typical question, without embeddings and the checks of citations."""

    effort = serializers.ChoiceField(EFFORTS, help_text="The effort.")
    least = serializers.IntegerField(help_text="Fewest calls.")
    most = serializers.IntegerField(help_text="Most calls.")


class MethodObstacleSerializer(serializers.Serializer[Any]):
    """Why a method cannot answer now."""

    code = serializers.CharField(help_text="Stable code (docs/errors.md); branch on it.")
    message = serializers.CharField(help_text="A sentence for people. It may change.")


class MethodSerializer(serializers.Serializer[Any]):
    """An answering method."""

    name = serializers.CharField(help_text="Name, as a question's `method` takes it.")
    object = serializers.CharField(default="method", read_only=True, help_text="Always `method`.")
    version = serializers.CharField(help_text="Version. It changes whenever the method may answer differently.")
    description = serializers.CharField(help_text="What the method does, in one line.")
    needs = serializers.ListField(
        child=serializers.CharField(),
        help_text="What the method works with: `events`, `frames`, `transcript`, `topics`, `objects`, `checker`. "
        "Without one of them it still answers, and the answer's `degraded` says so.",
    )
    efforts = serializers.ListField(child=serializers.ChoiceField(EFFORTS), help_text="Efforts that it has.")
    typical_calls = TypicalCallsSerializer(many=True, help_text="Number of model calls of a typical question.")
    usable = serializers.BooleanField(
        allow_null=True,
        help_text="Whether the models of this deployment can run it; null while no worker has reported its models.",
    )
    obstacles = MethodObstacleSerializer(many=True, help_text="Why it cannot be used; empty if it can.")


class MethodListSerializer(serializers.Serializer[Any]):
    """All answering methods."""

    data: Any = MethodSerializer(many=True, help_text="The methods, the default one first.")
