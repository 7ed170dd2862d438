"""Bodies of the search tree behind an answer, as the trace shows it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.api.public_ids import PublicIdField


class CandidateSerializer(serializers.Serializer[Any]):
    """One sampled answer of a node, with its reasoning and its scores."""

    answer = serializers.CharField(help_text="The sampled answer; empty if the sample has none.")
    choice = serializers.IntegerField(allow_null=True, help_text="Index of the chosen choice, from 0.")
    reasoning = serializers.CharField(help_text="The reasoning that the model gave.")
    agreement = serializers.FloatField(allow_null=True, help_text="Share of the node's samples that agree, 0 to 1.")
    coherence = serializers.FloatField(
        allow_null=True, help_text="Similarity of this reasoning to the reasoning of agreeing samples, 0 to 1."
    )
    score = serializers.FloatField(allow_null=True, help_text="Agreement and coherence combined, 0 to 1.")


class NodeEventSerializer(serializers.Serializer[Any]):
    """An event that a node read."""

    event_id = PublicIdField("evt", help_text="Id of the event.")
    rank = serializers.IntegerField(help_text="Position in the node's event list, from 1.")
    score = serializers.FloatField(help_text="Score of the retrieval.")
    views = serializers.ListField(child=serializers.CharField(), help_text="Retrieval views that found the event.")


class NodeUsageSerializer(serializers.Serializer[Any]):
    """What a node consumed."""

    prompt_tokens = serializers.IntegerField(help_text="Tokens that were sent to models.")
    completion_tokens = serializers.IntegerField(help_text="Tokens that models wrote.")
    frames_used = serializers.IntegerField(help_text="Frames that a check or an inspection looked at.")
    frames_available = serializers.IntegerField(help_text="Frames that it could have looked at.")


class NodeDetailSerializer(serializers.Serializer[Any]):
    """A step of a method that calls tools; null for any other node."""

    tool = serializers.CharField(help_text="Tool that the model called; empty if its step could not be read.")
    arguments = serializers.DictField(help_text="Arguments of the call, as they were checked.")
    observation = serializers.CharField(help_text="What the tool returned, at most 4,000 characters.")
    thought = serializers.CharField(help_text="What the model wrote before the call.")
    forced = serializers.CharField(help_text="Why the model had to finish in this step; empty if it had a choice.")
    error = serializers.CharField(help_text="Code of what went wrong with the call; empty if nothing did.")

    def to_representation(self, instance: Any) -> Any:
        if not instance:
            return None
        empty = {"tool": "", "arguments": {}, "observation": "", "thought": "", "forced": "", "error": ""}
        return super().to_representation({**empty, **instance})


class NodeSerializer(serializers.Serializer[Any]):
    """A node of the search tree, or a step of a method that calls tools."""

    id = PublicIdField("nod", source="node.id", help_text="Id of the node.")
    path = serializers.CharField(
        source="node.path",
        help_text="Actions from the root to the node, empty at the root. A step has its number, such as `S03`.",
    )
    depth = serializers.IntegerField(source="node.depth", help_text="Number of actions on the path.")
    action = serializers.CharField(
        source="node.action", help_text="Code of the action that made the node, or name of the tool of a step."
    )
    answer = serializers.CharField(
        source="node.answer",
        allow_null=True,
        help_text="The node's own answer; `insufficient` if the node abstained, null if it did not answer.",
    )
    score = serializers.FloatField(source="node.score", allow_null=True, help_text="Score of the node's answer.")
    sub_queries = serializers.ListField(
        source="node.sub_queries", child=serializers.CharField(), help_text="Queries that a re-query made (action RQ)."
    )
    events = NodeEventSerializer(many=True, help_text="Events that the node read, in the order of their ranks.")
    candidates = CandidateSerializer(many=True, help_text="Sampled answers of the node.")
    seen = serializers.ListField(
        source="node.seen", child=serializers.CharField(), help_text="Findings of an inspection so far (action IN)."
    )
    note = serializers.CharField(
        source="node.note",
        help_text="Why the tree was not searched, if the events alone decided the choice (action CS); else empty.",
    )
    detail = NodeDetailSerializer(
        source="node.detail", allow_null=True, help_text="The tool call of a step; null for any other node."
    )
    reused_from = serializers.CharField(
        allow_null=True, help_text="Path of the node with the same events whose answer this node shares."
    )
    error_code = serializers.CharField(allow_null=True, help_text="Code of the error that ended the node.")
    usage = NodeUsageSerializer(source="node.usage", help_text="What the node consumed.")
    started_ms = serializers.IntegerField(
        source="node.started_ms", help_text="Begin of the node, in milliseconds from the begin of the search."
    )
    wall_ms = serializers.IntegerField(source="node.wall_ms", help_text="Duration of the node in milliseconds.")
