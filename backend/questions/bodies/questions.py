"""A question as customers see it: one shape for reads, lists, waits, streams and the trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from rest_framework import serializers

from backend.api import public_ids
from backend.billing.rates import plain
from backend.library.storage import ObjectStorage
from backend.questions.models import Candidate, Evidence, Feedback, Node, Question, QuestionStatus
from backend.questions.queries.questions import TERMINAL, QuestionView

# How evidence stands to a claim, and a claim to its evidence.
CITATION_STATUSES = ("supported", "contradicted", "unverified")
# Of a node's usage, what a trace shows.
_NODE_USAGE = ("prompt_tokens", "completion_tokens", "frames_used", "frames_available")


def represent(view: QuestionView) -> dict[str, Any]:
    question = view.question
    body = {
        "id": public_ids.encode("qst", question.id),
        "object": "question",
        "status": question.status,
        "stage": question.stage,
        "progress": _progress(view),
        "question": question.text,
        "choices": question.choices,
        "video_ids": [public_ids.encode("vid", video) for video in view.videos],
        "start_ms": question.start_ms,
        "end_ms": question.end_ms,
        "method": question.method,
        "effort": question.effort,
        "check": question.check_mode,
        "budget": question.budget,
        "seed": question.seed,
        "external_id": question.external_id,
        "metadata": question.metadata,
        "batch_id": None if question.batch_id is None else public_ids.encode("bat", question.batch_id),
        "session_id": None if question.session_id is None else public_ids.encode("ses", question.session_id),
        "turn": question.turn,
        "standalone_question": question.standalone or None,
        "answer": question.answer,
        "choice": question.choice,
        "finish_reason": question.finish_reason or None,
        "finish_detail": question.finish_detail or None,
        "confidence": question.confidence,
        "claims": question.claims,
        "evidence": [_evidence(item) for item in view.evidence],
        "partial_answer": _partial(question),
        "usage": question.usage or None,
        "cost": {
            "amount": plain(question.cost_amount),
            "currency": question.cost_currency,
            # Until there is an outcome the ledger has no row yet.
            "estimated": question.status not in TERMINAL,
        },
        "timings": question.timings or None,
        "models": question.model_names,
        "error": _error(question),
        "feedback": None if view.feedback is None else represent_feedback(view.feedback),
        "created_at": question.created_at,
        "started_at": question.started_at,
        "completed_at": question.completed_at,
    }
    if view.nodes is not None:
        body["trace"] = [represent_node(node, candidates) for node, candidates in view.nodes]
    return body


def represent_node(node: Node, candidates: tuple[Candidate, ...]) -> dict[str, Any]:
    usage: Mapping[str, Any] = node.usage
    return {
        "id": public_ids.encode("nod", node.id),
        "path": node.path,
        "depth": node.depth,
        "action": node.action,
        "answer": usage.get("answer"),
        "score": node.score,
        "sub_queries": node.sub_queries,
        "events": [
            {
                "event_id": public_ids.encode("evt", UUID(event["event_id"])),
                "rank": event["rank"],
                "score": event["score"],
                "views": event.get("views", []),
            }
            for event in node.events
        ],
        "candidates": [
            {
                "answer": candidate.answer,
                "choice": candidate.choice,
                "reasoning": candidate.reasoning,
                "agreement": candidate.agreement,
                "coherence": candidate.coherence,
                "score": candidate.score,
            }
            for candidate in candidates
        ],
        "seen": usage.get("seen", []),
        "note": usage.get("note", ""),
        "reused_from": node.reused_from or None,
        "error_code": node.error_code or None,
        "usage": {name: usage.get(name, 0) for name in _NODE_USAGE},
        "started_ms": usage.get("started_ms", 0),
        "wall_ms": node.wall_ms,
    }


def represent_feedback(given: Feedback) -> dict[str, Any]:
    return {
        "verdict": given.verdict,
        "note": given.note,
        "correct_answer": given.correct_answer,
        "correct_choice": given.correct_choice,
        "created_at": given.created_at,
        "updated_at": given.updated_at,
    }


def _evidence(item: Evidence) -> dict[str, Any]:
    frame = None
    if item.frame_ms is not None:
        frame = {"ms": item.frame_ms, "url": ObjectStorage().presign_get(item.frame_key) if item.frame_key else None}
    return {
        "video_id": public_ids.encode("vid", item.video_id),
        "event_id": public_ids.encode("evt", item.event_id),
        "start_ms": item.start_ms,
        "end_ms": item.end_ms,
        "frame": frame,
        "quote": item.quote,
        "status": item.status,
        "confidence": item.confidence,
    }


def _progress(view: QuestionView) -> dict[str, Any] | None:
    progress = view.progress
    if progress is None:
        return None
    percent = round(100 * progress.done / progress.total) if progress.total else None
    return {"stage": progress.stage, "done": progress.done, "total": progress.total, "percent": percent}


def _partial(question: Question) -> dict[str, Any] | None:
    """The best answer so far, until there is an outcome."""
    return None if question.status in TERMINAL else question.partial or None


def _error(question: Question) -> dict[str, Any] | None:
    if question.status != QuestionStatus.FAILED:
        return None
    return {"code": question.error_code, "message": question.error_message}


# --- the same, for the OpenAPI document -------------------------------------------------------------------------------


class FrameSerializer(serializers.Serializer[Any]):
    ms = serializers.IntegerField()
    url = serializers.URLField(allow_null=True, help_text="Presigned; valid for an hour.")


class EvidenceSerializer(serializers.Serializer[Any]):
    video_id = public_ids.PublicIdField("vid")
    event_id = public_ids.PublicIdField("evt")
    start_ms = serializers.IntegerField()
    end_ms = serializers.IntegerField()
    frame = FrameSerializer(allow_null=True)
    quote = serializers.CharField()
    status = serializers.ChoiceField(CITATION_STATUSES)
    confidence = serializers.FloatField(
        allow_null=True, help_text="How close the event's words are to the claims it is cited for, 0 to 1."
    )


class ClaimSerializer(serializers.Serializer[Any]):
    text = serializers.CharField()
    status = serializers.ChoiceField(CITATION_STATUSES)
    evidence = serializers.ListField(child=serializers.IntegerField(), help_text="Places in evidence, from 0.")


class PartialSerializer(serializers.Serializer[Any]):
    text = serializers.CharField()
    choice = serializers.IntegerField(allow_null=True)
    score = serializers.FloatField()
    path = serializers.CharField(help_text="The node of the search that gave it.")
    level = serializers.IntegerField(help_text="Levels of the search that are done.")


class ProgressSerializer(serializers.Serializer[Any]):
    stage = serializers.CharField()
    done = serializers.IntegerField()
    total = serializers.IntegerField()
    percent = serializers.IntegerField(allow_null=True)


class QuestionCostSerializer(serializers.Serializer[Any]):
    amount = serializers.CharField(help_text="Exact decimal.")
    currency = serializers.CharField()
    estimated = serializers.BooleanField()


class QuestionErrorSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()


class FeedbackSerializer(serializers.Serializer[Any]):
    verdict = serializers.ChoiceField(["right", "wrong"])
    note = serializers.CharField()
    correct_answer = serializers.CharField()
    correct_choice = serializers.IntegerField(allow_null=True, help_text="Index into choices.")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class CandidateSerializer(serializers.Serializer[Any]):
    answer = serializers.CharField()
    choice = serializers.IntegerField(allow_null=True)
    reasoning = serializers.CharField()
    agreement = serializers.FloatField(allow_null=True)
    coherence = serializers.FloatField(allow_null=True)
    score = serializers.FloatField(allow_null=True)


class NodeEventSerializer(serializers.Serializer[Any]):
    event_id = public_ids.PublicIdField("evt")
    rank = serializers.IntegerField()
    score = serializers.FloatField()
    views = serializers.ListField(child=serializers.CharField())


class NodeSerializer(serializers.Serializer[Any]):
    id = public_ids.PublicIdField("nod")
    path = serializers.CharField()
    depth = serializers.IntegerField()
    action = serializers.CharField()
    answer = serializers.CharField(allow_null=True)
    score = serializers.FloatField(allow_null=True)
    sub_queries = serializers.ListField(child=serializers.CharField())
    events = NodeEventSerializer(many=True)
    candidates = CandidateSerializer(many=True)
    seen = serializers.ListField(
        child=serializers.CharField(), help_text="What an inspection had found by then (action IN)."
    )
    note = serializers.CharField(
        help_text="Why the tree was not searched, if the events alone decide the choice (action CS); else empty."
    )
    reused_from = serializers.CharField(allow_null=True)
    error_code = serializers.CharField(allow_null=True)
    usage = serializers.DictField(child=serializers.IntegerField())
    started_ms = serializers.IntegerField()
    wall_ms = serializers.IntegerField()


class QuestionSerializer(serializers.Serializer[Any]):
    id = public_ids.PublicIdField("qst")
    object = serializers.CharField()
    status = serializers.ChoiceField(QuestionStatus.choices)
    stage = serializers.CharField()
    progress = ProgressSerializer(allow_null=True)
    question = serializers.CharField()
    choices = serializers.ListField(child=serializers.CharField())
    video_ids = serializers.ListField(child=public_ids.PublicIdField("vid"))
    start_ms = serializers.IntegerField(allow_null=True)
    end_ms = serializers.IntegerField(allow_null=True)
    method = serializers.CharField()
    effort = serializers.CharField()
    check = serializers.CharField()
    budget = serializers.DictField()
    seed = serializers.IntegerField()
    external_id = serializers.CharField()
    metadata = serializers.DictField(child=serializers.CharField())
    batch_id = public_ids.PublicIdField("bat", allow_null=True)
    session_id = public_ids.PublicIdField("ses", allow_null=True)
    turn = serializers.IntegerField(allow_null=True, help_text="Place in its session, from 1.")
    standalone_question = serializers.CharField(
        allow_null=True, help_text="A follow-up as it was searched for, with what it refers to written out."
    )
    answer = serializers.CharField()
    choice = serializers.IntegerField(allow_null=True, help_text="Index into choices.")
    finish_reason = serializers.CharField(allow_null=True)
    finish_detail = serializers.CharField(
        allow_null=True, help_text="What is behind a reason other than `answered`, such as `max_tokens`."
    )
    confidence = serializers.FloatField(allow_null=True)
    claims = ClaimSerializer(many=True, help_text="What the answer states, piece by piece, and what each rests on.")
    evidence = EvidenceSerializer(many=True)
    partial_answer = PartialSerializer(allow_null=True, help_text="The best answer so far, while the search runs.")
    usage = serializers.DictField(allow_null=True)
    cost = QuestionCostSerializer()
    timings = serializers.DictField(child=serializers.IntegerField(), allow_null=True)
    models = serializers.DictField(child=serializers.CharField())
    error = QuestionErrorSerializer(allow_null=True)
    feedback = FeedbackSerializer(allow_null=True)
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    completed_at = serializers.DateTimeField(allow_null=True)
    trace = NodeSerializer(many=True, required=False, help_text="With include=trace.")
