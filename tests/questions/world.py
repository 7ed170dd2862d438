"""Answers of a scripted engine, and the rows they are asked about."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

from uuid6 import uuid7

from backend.questions.models import Question
from backend.questions.services import questions
from gpu_workers.engine.answering.contract import Answer, CandidateRecord, CitationRecord, NodeEvent, NodeRecord, Usage
from gpu_workers.engine.models.roles import ModelCall
from tests.factories import make_video

CALLS = (
    ModelCall("answer", "qwen", wall_ms=1_200, prompt_tokens=900, cached_tokens=300, completion_tokens=80),
    ModelCall("embedding", "minilm", wall_ms=20),
)
EVENT = uuid7()


def answer(video_id: UUID, **values: Any) -> Answer:
    """A root with two candidates, one requery that reuses it, one citation."""
    fields: dict[str, Any] = {
        "text": "a red car",
        "choice": 1,
        "confidence": 0.75,
        "finish_reason": "answered",
        "citations": (CitationRecord(video_id, EVENT, 3_000, 9_000, 4_000, uuid7(), "A red car parks.", "supported"),),
        "nodes": (
            NodeRecord(
                path="",
                depth=0,
                action="SA",
                events=(NodeEvent(EVENT, 1, 0.9, 1, ("events", "frames")),),
                candidates=(
                    CandidateRecord("a red car", 1, "E1 shows it.", (1,), 0.5, 0.8, 0.7),
                    CandidateRecord(None, None, "", (), 0.0, 0.0, 0.0),
                ),
                answer="a red car",
                score=0.7,
                wall_ms=1_200,
                prompt_tokens=900,
                completion_tokens=80,
            ),
            NodeRecord(path="RQ", depth=1, action="RQ", sub_queries=("car colour",), reused_from="", started_ms=1_200),
        ),
        "usage": Usage(CALLS, 900, 300, 80, Decimal(0)),
        "timings": {"retrieval": 100, "search": 1_200, "total": 1_900},
    }
    return Answer(**{**fields, **values})


def ask(cast: Any, **values: Any) -> tuple[UUID, UUID]:
    """A question of cast's about a new video: (question id, video id)."""
    with cast.scope():
        video = make_video(indexed_until_ms=30_000)
        fields: dict[str, Any] = {"text": "Which car?", "video_ids": [video.id], "api_key_id": cast.key_id}
        return questions.create_question(**{**fields, **values}).id, video.id


def finish(cast: Any, question_id: UUID, video_id: UUID, **values: Any) -> Question:
    """What the worker does: begin, then store the engine's answer."""
    with cast.scope():
        begun = questions.begin(question_id=question_id)
        assert begun is not None
    with cast.scope():
        return questions.store_answer(
            question=begun, answer=answer(video_id, **values), model_names={"reasoner": "qwen"}
        )
